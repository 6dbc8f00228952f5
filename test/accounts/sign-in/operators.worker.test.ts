import { env } from "cloudflare:workers"
import { eq } from "drizzle-orm"
import { expect, it } from "vitest"
import { openDirectory } from "../../../src/db/database.ts"
import { users, mailedLinkTokens } from "../../../src/db/schema/users.ts"
import { fetchOperatorRoute } from "../../support/caller.ts"
import { makePerson, makeService, newEmail, ORIGIN, PASSWORD } from "./visitor.ts"

const service = makeService({ SIGN_UP: "open" })
const database = openDirectory(env)

async function appoint(email: string): Promise<{ status: number; token: string }> {
  const body = JSON.stringify({ email })
  const answer = await fetchOperatorRoute("/operators", { method: "POST", body })
  const { link = "" } = await answer.json<{ link?: string }>()
  return { status: answer.status, token: URL.parse(link)?.searchParams.get("token") ?? "" }
}

async function findUser(email: string) {
  return (await database.select().from(users).where(eq(users.email, email)))[0]
}

it("creates an operator who sets the password by the link, once", async () => {
  const [email, visitor] = [newEmail(), service.visitor()]
  const { status, token } = await appoint(email)
  expect(status).toBe(201)
  expect(await findUser(email)).toMatchObject({ isOperator: true, emailVerified: true })
  await visitor.submit("/reset-password", { token, password: PASSWORD })
  await visitor.submit("/sign-in", { email, password: PASSWORD })
  expect(await (await visitor.visit("/")).text()).toContain("/operate/accounts")
  expect((await visitor.submit("/reset-password", { token, password: PASSWORD })).status).toBe(422)
})

it("makes an existing user an operator, with the same account and password", async () => {
  const person = await makePerson(service)
  const before = await findUser(person.email)
  await appoint(person.email.toUpperCase())
  expect(await findUser(person.email)).toEqual({ ...before, isOperator: true })
  expect(await person.isSignedIn()).toBe(true)
})

it("replaces an unconfirmed sign-up with the operator's email", async () => {
  const [email, visitor] = [newEmail(), service.visitor()]
  await visitor.submit("/sign-up", { email, password: "what somebody else chose" })
  const link = service.linkTo(email)
  await appoint(email)
  await visitor.visit(link)
  expect(await visitor.isSignedIn()).toBe(false)
  const form = { email, password: "what somebody else chose" }
  expect((await visitor.submit("/sign-in", form)).status).toBe(422)
})

it("expires the link after a day", async () => {
  const email = newEmail()
  const { token } = await appoint(email)
  const [link] = await database
    .select()
    .from(mailedLinkTokens)
    .where(eq(mailedLinkTokens.value, (await findUser(email))?.id ?? ""))
  const hours = ((link?.expiresAt.getTime() ?? 0) - Date.now()) / 3_600_000
  expect(Math.round(hours)).toBe(24)
  await database
    .update(mailedLinkTokens)
    .set({ expiresAt: new Date(Date.now() - 1) })
    .where(eq(mailedLinkTokens.id, link?.id ?? ""))
  const answer = await service.visitor().submit("/reset-password", { token, password: PASSWORD })
  expect(answer.status).toBe(422)
})

it("refuses a malformed email, and callers who are not the operator", async () => {
  expect((await appoint("nobody")).status).toBe(422)
  const answer = await service.ask(`${ORIGIN}/operator/operators`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: newEmail() }),
  })
  expect(answer.status).toBe(401)
})
