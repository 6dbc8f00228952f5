import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { beginAccountDeletion } from "../../../src/accounts/deletion.ts"
import { inviteUser } from "../../../src/accounts/invitations.ts"
import { makePerson, makeService, newEmail, ORIGIN, PASSWORD, tokenOf } from "./visitor.ts"

const service = makeService({ SIGN_UP: "open" })
const PREPARED = "what somebody else chose"

async function invite(email = newEmail()) {
  const made = await inviteUser(service.env, ORIGIN, { email, plan: "paid" })
  const link = new URL(made?.link ?? "")
  return { email, invitation: link.searchParams.get("invitation") ?? "" }
}

/** Returns the plan of the account of an email's user. */
async function planOf(email: string): Promise<unknown> {
  return await env.DB.prepare(
    "select plan from accounts where id = (select account_id from users where email = ?)",
  )
    .bind(email)
    .first("plan")
}

describe("an invitation", () => {
  it("stays valid when another person signs up with its email, and replaces that sign-up", async () => {
    const { email, invitation } = await invite()
    const [stranger, guest] = [service.visitor(), service.visitor()]
    await stranger.submit("/sign-up", { email, password: PREPARED })
    const link = service.linkTo(email)
    await guest.submit("/sign-up", { email, password: PASSWORD, invitation })
    expect(await guest.isSignedIn()).toBe(true)
    expect(await planOf(email)).toBe("paid")
    expect((await stranger.submit("/sign-in", { email, password: PREPARED })).status).toBe(422)
    expect((await stranger.confirm(link, PREPARED)).status).toBe(422)
  })

  it("stays valid when an account is deleted whose user did not confirm that email", async () => {
    const { email, invitation } = await invite()
    await service.visitor().submit("/sign-up", { email, password: PREPARED })
    const accountId = await env.DB.prepare("select account_id from users where email = ?")
      .bind(email)
      .first<string>("account_id")
    expect(await beginAccountDeletion(service.env, accountId ?? "")).toBe(true)
    const guest = service.visitor()
    await guest.submit("/sign-up", { email, password: PASSWORD, invitation })
    expect(await guest.isSignedIn()).toBe(true)
  })

  it.each([
    ["a link", async (email: string) => await service.visitor().confirm(service.linkTo(email))],
    [
      "a password that is reset",
      async (email: string) => {
        const visitor = service.visitor()
        await visitor.submit("/forgot-password", { email })
        const token = tokenOf(service.linkTo(email))
        return await visitor.submit("/reset-password", { token, password: PASSWORD })
      },
    ],
  ])("becomes invalid once its email is confirmed by %s", async (_, confirm) => {
    const { email, invitation } = await invite()
    await service.visitor().submit("/sign-up", { email, password: PASSWORD })
    expect((await confirm(email)).status).toBe(303)
    const page = await service.visitor().visit(`/sign-up?invitation=${invitation}`)
    expect(page.status).toBe(404)
  })

  it("becomes invalid once a user changes to its email", async () => {
    const { email, invitation } = await invite()
    const person = await makePerson(service)
    await person.post("/change-email", { newEmail: email })
    await person.submit("/verify-email", { token: tokenOf(service.linkTo(person.email)) })
    await person.submit("/verify-email", { token: tokenOf(service.linkTo(email)) })
    const page = await service.visitor().visit(`/sign-up?invitation=${invitation}`)
    expect(page.status).toBe(404)
  })
})
