import { eq, like } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { inviteUser, withdrawInvitation } from "../../../src/accounts/invitations.ts"
import { openDirectory } from "../../../src/db/database.ts"
import { accounts } from "../../../src/db/schema/accounts.ts"
import { users } from "../../../src/db/schema/users.ts"
import { makeCaller } from "../../support/caller.ts"
import { makeService, newEmail, ORIGIN, PASSWORD } from "./visitor.ts"

const open = makeService({ SIGN_UP: "open" })
const byInvitation = makeService({ SIGN_UP: "invitation" })
const closed = makeService({ SIGN_UP: "closed" })
const database = openDirectory(open.env)

async function findUser(email: string) {
  const [user] = await database.select().from(users).where(eq(users.email, email))
  return user ?? null
}

async function accountsOf(email: string) {
  return await database
    .select()
    .from(accounts)
    .where(like(accounts.name, `${email}%`))
}

function signUpBody(email: string, more: Record<string, unknown> = {}) {
  return { name: email, email, password: PASSWORD, ...more }
}

describe("open sign-up", () => {
  it("signs in the user who follows the mailed link, and nobody before", async () => {
    const [email, visitor] = [newEmail(), open.visitor()]
    const sent = await visitor.submit("/sign-up", { email, password: PASSWORD })
    expect([sent.status, sent.headers.get("location")]).toEqual([303, "/verify-email"])
    expect(await visitor.isSignedIn()).toBe(false)
    const early = await visitor.submit("/sign-in", { email, password: PASSWORD })
    expect(early.status).toBe(403)
    expect(await early.text()).toContain("Confirm your email first")
    const confirmed = await visitor.confirm(open.linkTo(email))
    expect(confirmed.headers.get("location")).toBe("/")
    expect(await visitor.isSignedIn()).toBe(true)
  })

  it("creates an account of the trial plan with the email as its name", async () => {
    const email = newEmail()
    await open.visitor().post("/sign-up/email", signUpBody(email))
    const [account] = await accountsOf(email)
    expect(account).toMatchObject({ name: email, plan: "trial" })
    expect(account?.webhookSecret).toMatch(/^whsec_/)
    expect(await findUser(email)).toMatchObject({ accountId: account?.id, emailVerified: false })
  })

  it("joins no account of the same name that the operator created", async () => {
    const email = newEmail()
    await makeCaller(email)
    await open.visitor().post("/sign-up/email", signUpBody(email))
    const user = await findUser(email)
    const all = await accountsOf(email)
    const own = all.find(({ id }) => id === user?.accountId)
    expect(all).toHaveLength(2)
    expect(own?.name).toBe(`${email} ${own?.id}`)
  })

  it("answers alike for a known and a new email, and mails its owner", async () => {
    const email = newEmail()
    const first = await open.visitor().post("/sign-up/email", signUpBody(email, { name: "" }))
    await open.visitor().confirm(open.linkTo(email))
    const count = open.mails.length
    const again = await open.visitor().post("/sign-up/email", signUpBody(email, { name: "" }))
    expect(again.status).toBe(first.status)
    expect([...again.headers.keys()]).toEqual([...first.headers.keys()])
    expect(await again.text()).toBe(await first.text())
    expect(open.mails.slice(count)).toMatchObject([
      { to: email, subject: "You already have an account at Lathe" },
    ])
  })

  it("changes nothing if an email signs up again within a day, and mails its owner", async () => {
    const [email, first, second] = [newEmail(), open.visitor(), open.visitor()]
    const earlier = await first.post("/sign-up/email", signUpBody(email))
    const before = await findUser(email)
    const count = open.mails.length
    const body = signUpBody(email, { password: "what somebody else chose" })
    const later = await second.post("/sign-up/email", body)
    expect([later.status, await later.text()]).toEqual([earlier.status, await earlier.text()])
    expect(await findUser(email)).toEqual(before)
    const [mail, ...others] = open.mails.slice(count)
    expect([mail?.to, others]).toEqual([email, []])
    expect(mail?.text).toContain("signed up at Lathe with")
    expect((await first.confirm(open.linkTo(email))).headers.get("location")).toBe("/")
    const form = { email, password: "what somebody else chose" }
    expect((await second.submit("/sign-in", form)).status).toBe(422)
  })

  it("replaces a sign-up that was not confirmed for a day", async () => {
    const [email, first, second] = [newEmail(), open.visitor(), open.visitor()]
    await first.post("/sign-up/email", signUpBody(email, { password: "what somebody else chose" }))
    const firstLink = open.linkTo(email)
    const longAgo = new Date(Date.now() - 25 * 3_600_000)
    await database.update(users).set({ createdAt: longAgo }).where(eq(users.email, email))
    await second.post("/sign-up/email", signUpBody(email))
    expect(await (await first.visit(firstLink)).text()).toContain("The link is used")
    expect((await first.confirm(firstLink, "what somebody else chose")).status).toBe(422)
    await second.confirm(open.linkTo(email))
    expect(await second.isSignedIn()).toBe(true)
    expect(await accountsOf(email)).toHaveLength(1)
  })

  it("creates one user and one account for many simultaneous sign-ups of an email", async () => {
    const email = newEmail()
    const visitors = Array.from({ length: 8 }, () => open.visitor())
    const answers = await Promise.all(
      visitors.map((visitor) => visitor.post("/sign-up/email", signUpBody(email))),
    )
    expect(answers.every(({ status }) => status < 500)).toBe(true)
    expect(await database.select().from(users).where(eq(users.email, email))).toHaveLength(1)
    expect(await accountsOf(email)).toHaveLength(1)
  })
})

describe("closed sign-up and sign-up by invitation", () => {
  it.each([
    ["closed", closed, "Sign-up is closed"],
    ["invitation", byInvitation, "Sign-up is by invitation"],
  ])("refuses strangers with a message, by any route (%s)", async (_, service, sentence) => {
    const email = newEmail()
    const asked = await service.visitor().post("/sign-up/email", signUpBody(email))
    expect(asked.status).toBe(403)
    const { message } = await asked.json<{ message: string }>()
    expect(message).toContain(sentence)
    const sent = await service.visitor().submit("/sign-up", { email, password: PASSWORD })
    expect(sent.status).toBe(403)
    expect(await sent.text()).toContain(sentence)
    const page = await service.visitor().visit("/sign-up")
    expect(page.status).toBe(403)
    expect(await page.text()).toContain(sentence)
    expect(await findUser(email)).toBeNull()
    expect(await accountsOf(email)).toEqual([])
  })

  it.each([
    ["closed", closed],
    ["invitation", byInvitation],
    ["open", open],
  ])("creates a verified user for an invitation, once (%s)", async (_, service) => {
    const email = newEmail()
    await inviteUser(service.env, ORIGIN, { email, plan: "paid" })
    const link = service.linkTo(email)
    const invitation = new URL(link, ORIGIN).searchParams.get("invitation") ?? ""
    const visitor = service.visitor()
    expect(await (await visitor.visit(link)).text()).toContain(email)
    const count = service.mails.length
    await visitor.submit("/sign-up", { email, password: PASSWORD, invitation })
    expect(await visitor.isSignedIn()).toBe(true)
    expect(service.mails.slice(count)).toEqual([])
    expect(await findUser(email)).toMatchObject({ emailVerified: true, isOperator: false })
    expect(await accountsOf(email)).toMatchObject([{ plan: "paid" }])
    const other = service.visitor()
    expect((await other.visit(link)).status).toBe(404)
    const again = await other.post("/sign-up/email", signUpBody(newEmail(), { invitation }))
    expect(again.status).toBe(403)
  })

  it("accepts an invitation for its own email only", async () => {
    const [email, other] = [newEmail(), newEmail()]
    await inviteUser(byInvitation.env, ORIGIN, { email, plan: "trial" })
    const link = byInvitation.linkTo(email)
    const invitation = new URL(link, ORIGIN).searchParams.get("invitation")
    const visitor = byInvitation.visitor()
    const taken = await visitor.post("/sign-up/email", signUpBody(other, { invitation }))
    expect(taken.status).toBe(403)
    expect(await findUser(other)).toBeNull()
  })

  it("accepts no withdrawn, replaced or forged invitation", async () => {
    const email = newEmail()
    const first = await inviteUser(byInvitation.env, ORIGIN, { email, plan: "trial" })
    const second = await inviteUser(byInvitation.env, ORIGIN, { email, plan: "trial" })
    expect(await withdrawInvitation(byInvitation.env, second?.invitation.id ?? "")).toBe(true)
    const links = [first?.link, second?.link, `${ORIGIN}/sign-up?invitation=guessed`]
    for (const link of links) {
      const invitation = new URL(link ?? "").searchParams.get("invitation")
      const visitor = byInvitation.visitor()
      const answer = await visitor.post("/sign-up/email", signUpBody(email, { invitation }))
      expect(answer.status).toBe(403)
    }
    expect(await findUser(email)).toBeNull()
  })

  it("refuses an invitation to an existing user", async () => {
    const email = newEmail()
    const visitor = open.visitor()
    await visitor.submit("/sign-up", { email, password: PASSWORD })
    await visitor.confirm(open.linkTo(email))
    expect(await inviteUser(open.env, ORIGIN, { email, plan: "paid" })).toBeNull()
  })
})

describe("fields of a sign-up", () => {
  it("make nobody an operator, and give nobody another's account", async () => {
    const [email, visitor] = [newEmail(), open.visitor()]
    const [stolen] = await database.select().from(accounts).limit(1)
    const taken = { isOperator: true, accountId: stolen?.id ?? "", emailVerified: true }
    expect((await visitor.post("/sign-up/email", signUpBody(email, taken))).status).toBe(400)
    expect(await findUser(email)).toBeNull()
    await visitor.post("/sign-up/email", signUpBody(email))
    await visitor.confirm(open.linkTo(email))
    for (const fields of [taken, { isOperator: true }, { accountId: stolen?.id ?? "x" }]) {
      const answer = await visitor.post("/update-user", { name: "Ada", ...fields })
      expect(answer.status).toBe(404)
    }
    expect(await findUser(email)).toMatchObject({ isOperator: false, name: email })
    expect((await findUser(email))?.accountId).not.toBe(stolen?.id)
  })

  it.each([
    ["no email", { email: "nobody" }, "INVALID_EMAIL"],
    ["a long email", { email: `${"a".repeat(400)}@people.test` }, "EMAIL_TOO_LONG"],
    ["no password", { password: undefined }, "VALIDATION_ERROR"],
    ["a short password", { password: "short" }, "PASSWORD_TOO_SHORT"],
    ["a long password", { password: "a".repeat(129) }, "PASSWORD_TOO_LONG"],
    ["a picture", { image: "a".repeat(5000) }, "VALIDATION_ERROR"],
    ["a long name", { name: "a".repeat(5000) }, "VALIDATION_ERROR"],
  ])("are refused with the reason, and nothing is stored: %s", async (_, fields, code) => {
    const email = newEmail()
    const answer = await open.visitor().post("/sign-up/email", signUpBody(email, fields))
    expect(answer.status).toBe(400)
    const body = await answer.json<{ code: string; status?: boolean }>()
    expect([body.code, body.status]).toEqual([code, undefined])
    expect(await findUser(email)).toBeNull()
  })
})
