import { eq } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { openDirectory } from "../../../src/db/database.ts"
import { accounts } from "../../../src/db/schema/accounts.ts"
import { credentials, sessions, users, mailedLinkTokens } from "../../../src/db/schema/users.ts"
import { makePerson, makeService, newEmail, ORIGIN, PASSWORD, tokenOf } from "./visitor.ts"

const service = makeService({ SIGN_UP: "open" })
const database = openDirectory(service.env)
const PREPARED = "what somebody else chose"

/** Returns a visitor with an unconfirmed sign-up, and its link. */
async function signUp(password = PASSWORD) {
  const [email, visitor] = [newEmail(), service.visitor()]
  await visitor.submit("/sign-up", { email, password })
  return { ...visitor, email, link: service.linkTo(email) }
}

/** Returns rows of a user that concern sign-in. */
async function rowsOf(email: string) {
  const [user] = await database.select().from(users).where(eq(users.email, email))
  const id = user?.id ?? ""
  return {
    user,
    credentials: await database.select().from(credentials).where(eq(credentials.userId, id)),
    sessions: await database.select().from(sessions).where(eq(sessions.userId, id)),
    links: await database.select().from(mailedLinkTokens).where(eq(mailedLinkTokens.value, id)),
  }
}

/** Returns the email of the signed-in user, from the page of settings. */
async function whoIs({ visit }: Pick<Awaited<ReturnType<typeof signUp>>, "visit">) {
  const page = await (await visit("/settings")).text()
  return /You sign in as <strong>([^<]+)</.exec(page)?.[1] ?? null
}

describe("a mailed link to confirm an email", () => {
  it("changes nothing and signs nobody in when it is opened", async () => {
    const { email, link } = await signUp()
    const before = await rowsOf(email)
    const opener = service.visitor()
    for (const path of [link, link, `/api/auth${link}`]) {
      const answer = await opener.visit(path)
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    expect(await opener.isSignedIn()).toBe(false)
    expect(await rowsOf(email)).toEqual(before)
  })

  it("keeps the session of another signed-in user when it is opened or sent", async () => {
    const [attacker, operator] = [await signUp(), await makePerson(service)]
    const page = await operator.visit(attacker.link)
    expect(page.status).toBe(403)
    expect(await page.text()).toContain("The link is for another user")
    const token = tokenOf(attacker.link)
    for (const fields of [{ password: PASSWORD }, { newPassword: "a password of the operator" }]) {
      const sent = await operator.submit("/verify-email", { token, ...fields })
      expect(sent.status).toBe(403)
    }
    expect(await whoIs(operator)).toBe(operator.email)
    expect((await rowsOf(attacker.email)).user?.emailVerified).toBe(false)
  })

  it("is not sent by a page of another site", async () => {
    const { link } = await signUp()
    const body = new URLSearchParams({ token: tokenOf(link), password: PASSWORD })
    const headers = { origin: "https://evil.test", "sec-fetch-site": "cross-site" }
    const victim = service.visitor()
    const answer = await victim.visit("/verify-email", { method: "POST", headers, body })
    expect(answer.status).toBe(403)
    expect(await victim.isSignedIn()).toBe(false)
  })

  it("confirms with the password of the sign-up, and once", async () => {
    const { email, link, ...visitor } = await signUp()
    const done = await visitor.confirm(link)
    expect([done.status, done.headers.get("location")]).toEqual([303, "/"])
    expect(await visitor.isSignedIn()).toBe(true)
    expect((await rowsOf(email)).user?.emailVerified).toBe(true)
    const again = service.visitor()
    expect(await (await again.visit(link)).text()).toContain("The link is used")
    expect((await again.confirm(link)).status).toBe(422)
    const token = tokenOf(link)
    const newPassword = "a password of another"
    expect((await again.submit("/verify-email", { token, newPassword })).status).toBe(422)
    expect(await again.isSignedIn()).toBe(false)
  })

  it("confirms nothing with another password, and asks for a new one", async () => {
    const { email, link } = await signUp(PREPARED)
    const before = await rowsOf(email)
    const owner = service.visitor()
    const answer = await owner.confirm(link, "the password of the owner")
    expect(answer.status).toBe(422)
    expect(await answer.text()).toContain('name="newPassword"')
    expect(await rowsOf(email)).toEqual(before)
    expect(await owner.isSignedIn()).toBe(false)
  })

  it("gives a prepared account to the reader of its mails, and to nobody else", async () => {
    // The preparer knows the link of no mail; the visitor takes the role of the owner by `link`
    // alone.
    const preparer = await signUp(PREPARED)
    const { email, link } = preparer
    const victim = service.visitor()
    await victim.submit("/sign-up", { email, password: PASSWORD })
    await victim.submit("/verify-email", { email })
    await victim.submit("/forgot-password", { email })
    const reset = tokenOf(service.linkTo(email))
    await database.insert(sessions).values({
      id: crypto.randomUUID(),
      userId: (await rowsOf(email)).user?.id ?? "",
      token: crypto.randomUUID(),
      expiresAt: new Date(Date.now() + 3_600_000),
      createdAt: new Date(),
      updatedAt: new Date(),
    })
    const fields = { token: tokenOf(link), newPassword: PASSWORD }
    const short = await victim.submit("/verify-email", { ...fields, newPassword: "short" })
    expect(await short.text()).toContain("A password has at least 10 characters.")
    expect((await victim.submit("/verify-email", fields)).headers.get("location")).toBe("/")
    expect(await whoIs(victim)).toBe(email)
    expect(await rowsOf(email)).toMatchObject({ sessions: [{}], links: [], credentials: [{}] })
    expect((await preparer.submit("/sign-in", { email, password: PREPARED })).status).toBe(422)
    expect(await preparer.isSignedIn()).toBe(false)
    const late = await preparer.submit("/reset-password", { token: reset, password: PREPARED })
    expect(late.status).toBe(422)
  })

  it("is invalid after the user signed in by a password that was reset", async () => {
    const { email, link, submit, visit } = await signUp(PREPARED)
    await submit("/forgot-password", { email })
    await submit("/reset-password", { token: tokenOf(service.linkTo(email)), password: PASSWORD })
    expect(await (await visit(link)).text()).toContain("The link is used")
  })

  it.each(["", "x", "a.b.c", "eyJhbGciOiJub25lIn0.eyJlbWFpbCI6ImFAYi5jIn0."])(
    "is invalid if it is forged: %s",
    async (token) => {
      const visitor = service.visitor()
      const page = await visitor.visit(`/verify-email?token=${token}`)
      expect(await page.text()).toContain("The link is used")
      const asked = await visitor.post("/confirm-email", { token, password: PASSWORD })
      expect([asked.status, await asked.json()]).toMatchObject([400, { code: "INVALID_TOKEN" }])
    },
  )
})

async function accountNames(id = ""): Promise<string[]> {
  const rows = await database.select().from(accounts).where(eq(accounts.id, id))
  return rows.map(({ name }) => name)
}

describe("a change of email", () => {
  it("takes effect after the old and the new address agreed, and each link works once", async () => {
    const person = await makePerson(service)
    const [former, next] = [person.email, newEmail()]
    expect((await person.post("/change-email", { newEmail: next })).status).toBe(200)
    const agreement = service.linkTo(former)
    expect(await (await person.visit(agreement)).text()).toContain("Send a link to the new address")
    expect(service.mails.filter(({ to }) => to === next)).toEqual([])
    const agreed = await person.submit("/verify-email", { token: tokenOf(agreement) })
    expect(await agreed.text()).toContain("your new address")
    const change = service.linkTo(next)
    await person.visit(change)
    expect((await rowsOf(next)).user).toBeUndefined()
    const changed = await person.submit("/verify-email", { token: tokenOf(change) })
    expect(changed.headers.get("location")).toBe("/settings")
    const { user } = await rowsOf(next)
    expect(user).toMatchObject({ emailVerified: true })
    expect(await accountNames(user?.accountId)).toEqual([next])
    // The user has the former email again, within the day of the links.
    const back = { email: former, updatedAt: new Date(Date.now() + 1000) }
    await database.update(users).set(back).where(eq(users.email, next))
    for (const link of [agreement, change]) {
      expect((await person.submit("/verify-email", { token: tokenOf(link) })).status).toBe(422)
    }
    expect((await rowsOf(next)).user).toBeUndefined()
  })

  it("needs the session of the user: the reader of the new address alone gets no account", async () => {
    const [attacker, victim] = [await makePerson(service), newEmail()]
    await attacker.post("/change-email", { newEmail: victim })
    await attacker.submit("/verify-email", { token: tokenOf(service.linkTo(attacker.email)) })
    const link = service.linkTo(victim)
    const reader = service.visitor()
    const opened = await reader.visit(link)
    expect(opened.headers.get("location")).toBe(`/sign-in?next=${encodeURIComponent(link)}`)
    expect((await reader.submit("/verify-email", { token: tokenOf(link) })).status).toBe(422)
    const other = await makePerson(service)
    expect((await other.visit(link)).status).toBe(403)
    expect((await other.submit("/verify-email", { token: tokenOf(link) })).status).toBe(403)
    expect((await rowsOf(victim)).user).toBeUndefined()
  })

  it("replaces an unconfirmed sign-up", async () => {
    const person = await makePerson(service)
    const { email, link, confirm } = await signUp(PREPARED)
    await person.post("/change-email", { newEmail: email })
    await person.submit("/verify-email", { token: tokenOf(service.linkTo(person.email)) })
    const changed = await person.submit("/verify-email", { token: tokenOf(service.linkTo(email)) })
    expect(changed.headers.get("location")).toBe("/settings")
    expect(await whoIs(person)).toBe(email)
    expect((await confirm(link, PREPARED)).status).toBe(422)
  })

  it("replaces no user, and does not reveal that there is one", async () => {
    const [person, taken] = [await makePerson(service), newEmail()]
    const asked = await person.post("/change-email", { newEmail: taken })
    await person.submit("/verify-email", { token: tokenOf(service.linkTo(person.email)) })
    const change = tokenOf(service.linkTo(taken))
    const other = service.visitor()
    await other.submit("/sign-up", { email: taken, password: PASSWORD })
    await other.confirm(service.linkTo(taken))
    expect((await person.submit("/verify-email", { token: change })).status).toBe(403)
    const count = service.mails.length
    const again = await person.post("/change-email", { newEmail: taken })
    expect([again.status, await again.text()]).toEqual([asked.status, await asked.text()])
    expect(service.mails.slice(count)).toEqual([])
    expect([await whoIs(person), await whoIs(other)]).toEqual([person.email, taken])
  })

  it("invalidates links that were mailed to the former address", async () => {
    const person = await makePerson(service)
    const next = newEmail()
    await person.submit("/forgot-password", { email: person.email })
    const reset = tokenOf(service.linkTo(person.email))
    await person.post("/change-email", { newEmail: next })
    await person.submit("/verify-email", { token: tokenOf(service.linkTo(person.email)) })
    await person.submit("/verify-email", { token: tokenOf(service.linkTo(next)) })
    const late = await service
      .visitor()
      .submit("/reset-password", { token: reset, password: PREPARED })
    expect(late.status).toBe(422)
    expect(await whoIs(person)).toBe(next)
  })
})

describe("a suspended account", () => {
  it("cannot be renamed or deleted by its user", async () => {
    const person = await makePerson(service)
    const next = newEmail()
    await person.post("/change-email", { newEmail: next })
    const agreement = tokenOf(service.linkTo(person.email))
    await person.submit("/verify-email", { token: agreement })
    const change = tokenOf(service.linkTo(next))
    const { user } = await rowsOf(person.email)
    const ofUser = eq(accounts.id, user?.accountId ?? "")
    await database.update(accounts).set({ suspendedAt: Date.now() }).where(ofUser)
    const tries = [
      await person.post("/change-email", { newEmail: newEmail() }),
      await person.post("/confirm-email-change", { token: agreement }),
      await person.post("/confirm-email-change", { token: change }),
      await person.post("/delete-user", { password: PASSWORD }),
      await person.post("/delete-user", {}),
    ]
    for (const answer of tries) {
      expect([answer.status, await answer.json()]).toMatchObject([
        403,
        { code: "ACCOUNT_SUSPENDED" },
      ])
    }
    const form = { email: person.email, password: PASSWORD }
    const page = await person.submit("/settings/delete", form)
    expect([page.status, await page.text()]).toEqual([403, expect.stringContaining("is suspended")])
    expect((await rowsOf(person.email)).user).toEqual(user)
    const [account] = await database.select().from(accounts).where(ofUser)
    expect(account).toMatchObject({ name: person.email, deletedAt: null })
  })
})

describe("sign-in by another service", () => {
  it("does not replace a session", async () => {
    const person = await makePerson(service)
    const begun = await person.visit("/sign-in/with/github?next=/keys")
    expect(begun.headers.get("location")).toBe("/keys")
    const back = await person.visit("/api/auth/callback/github?code=x&state=y")
    expect(new URL(back.headers.get("location") ?? "").href).toBe(`${ORIGIN}/`)
    expect(await whoIs(person)).toBe(person.email)
  })
})
