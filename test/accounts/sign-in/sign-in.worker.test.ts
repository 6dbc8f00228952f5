import { eq } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { openDirectory } from "../../../src/db/database.ts"
import { accounts } from "../../../src/db/schema/accounts.ts"
import { sessions, users } from "../../../src/db/schema/users.ts"
import { makePerson, makeService, newEmail, ORIGIN, PASSWORD } from "./visitor.ts"

const service = makeService({ SIGN_UP: "open" })
const database = openDirectory(service.env)
const OTHER_PASSWORD = "another password of many letters"

describe("sign-in", () => {
  it("sets a cookie that scripts and other sites cannot read, over https only", async () => {
    const { email } = await makePerson(service)
    const visitor = service.visitor()
    const answer = await visitor.submit("/sign-in", { email, password: PASSWORD })
    const [cookie = ""] = answer.headers.getSetCookie()
    // Browsers accept a cookie with this prefix from this host alone.
    expect(cookie).toMatch(/^__Host-lathe\.session_token=/)
    for (const flag of ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"]) {
      expect(cookie.toLowerCase()).toContain(flag.toLowerCase())
    }
    expect(cookie).not.toMatch(/domain=/i)
    expect([...visitor.jar.keys()].filter((name) => !name.startsWith("__Host-"))).toEqual([])
  })

  it("sets cookies over http on one machine", async () => {
    const { email } = await makePerson(service)
    const answer = await service.ask("http://localhost/sign-in", {
      method: "POST",
      headers: { origin: "http://localhost", "cf-connecting-ip": "203.0.113.50" },
      body: new URLSearchParams({ email, password: PASSWORD }),
    })
    const [cookie = ""] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^lathe\.session_token=/)
    expect(cookie).not.toMatch(/secure/i)
  })

  it("stores a bounded part of the browser's name", async () => {
    const { email } = await makePerson(service)
    const browser = "a".repeat(5000)
    await service.visitor().visit("/sign-in", {
      method: "POST",
      headers: { origin: ORIGIN, "user-agent": browser },
      body: new URLSearchParams({ email, password: PASSWORD }),
    })
    const [user] = await database.select().from(users).where(eq(users.email, email))
    const ofUser = eq(sessions.userId, user?.id ?? "")
    const kept = await database.select().from(sessions).where(ofUser)
    expect(kept.map(({ userAgent }) => userAgent?.length ?? 0)).toContain(300)
  })

  it("answers alike for a wrong password and an unknown email", async () => {
    const { email } = await makePerson(service)
    const wrong = { password: OTHER_PASSWORD }
    const known = await service.visitor().post("/sign-in/email", { email, ...wrong })
    const unknown = await service.visitor().post("/sign-in/email", { email: newEmail(), ...wrong })
    expect([known.status, await known.text()]).toEqual([unknown.status, await unknown.text()])
    const page = await service.visitor().submit("/sign-in", { email, ...wrong })
    expect(page.status).toBe(422)
    expect(await page.text()).toContain("The email or the password is wrong.")
  })

  it.each([
    ["/keys?page=2", "/keys?page=2"],
    ["https://evil.test/", "/"],
    ["//evil.test", "/"],
    ["/\\evil.test", "/"],
    ["/\t/evil.test", "/"],
    ["/.//evil.test", "/"],
    ["/%2F/evil.test", "/%2F/evil.test"],
    ["javascript:alert(1)", "/"],
    ["", "/"],
  ])("redirects only to a page of this origin: %s", async (next, expected) => {
    const { email, visit } = await makePerson(service)
    const visitor = service.visitor()
    const answer = await visitor.submit("/sign-in", { email, password: PASSWORD, next })
    expect(answer.headers.get("location")).toBe(expected)
    const skipped = await visit(`/sign-in?next=${encodeURIComponent(next)}`)
    expect(skipped.headers.get("location")).toBe(expected)
  })

  it("removes expired sessions of the user, and no others", async () => {
    const [{ email }, other] = [await makePerson(service), await makePerson(service)]
    await database.update(sessions).set({ expiresAt: new Date(Date.now() - 1000) })
    await service.visitor().submit("/sign-in", { email, password: PASSWORD })
    const open = await database
      .select({ email: users.email, expiresAt: sessions.expiresAt })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
    const mine = open.filter((session) => session.email === email)
    expect(mine.map(({ expiresAt }) => expiresAt.getTime() > Date.now())).toEqual([true])
    expect(open.filter((session) => session.email === other.email)).not.toEqual([])
  })

  it("accepts no form of another site's page", async () => {
    const { email, visit } = await makePerson(service)
    const body = new URLSearchParams({ email, password: PASSWORD })
    for (const path of ["/sign-in", "/sign-out", "/sign-up", "/reset-password"]) {
      const headers = { origin: "https://evil.test", "sec-fetch-site": "cross-site" }
      const answer = await visit(path, { method: "POST", headers, body })
      expect([path, answer.status]).toEqual([path, 403])
    }
    const asked = await visit("/api/auth/sign-out", {
      method: "POST",
      headers: { origin: "https://evil.test", "content-type": "application/json" },
      body: "{}",
    })
    expect(asked.status).toBe(403)
  })

  it("refuses a large body that is no sign-in form by its size", async () => {
    const visitor = service.visitor()
    const answer = await visitor.post("/sign-in/email", { email: "x".repeat(70_000) })
    expect(answer.status).toBe(413)
  })

  it("admits a suspended user, and nobody whose account is deleted", async () => {
    const person = await makePerson(service)
    const [user] = await database.select().from(users).where(eq(users.email, person.email))
    const ofUser = eq(accounts.id, user?.accountId ?? "")
    await database.update(accounts).set({ suspendedAt: Date.now() }).where(ofUser)
    expect(await person.isSignedIn()).toBe(true)
    await database.update(accounts).set({ deletedAt: Date.now() }).where(ofUser)
    expect(await person.isSignedIn()).toBe(false)
    const form = { email: person.email, password: PASSWORD }
    expect((await service.visitor().post("/sign-in/email", form)).status).toBe(403)
  })
})

describe("sign-out", () => {
  it("ends the session at once, even for a kept cookie", async () => {
    const person = await makePerson(service)
    const kept = new Map(person.jar)
    const answer = await person.submit("/sign-out", {})
    expect(answer.headers.get("location")).toBe("/sign-in")
    expect(await person.isSignedIn()).toBe(false)
    for (const [name, value] of kept) person.jar.set(name, value)
    expect(await person.isSignedIn()).toBe(false)
  })
})

describe("a reset of a password", () => {
  it("takes effect at once, and ends every session", async () => {
    const person = await makePerson(service)
    const other = service.visitor()
    await other.submit("/forgot-password", { email: person.email })
    const link = service.linkTo(person.email)
    expect((await other.visit(link)).status).toBe(200)
    const token = new URL(link, ORIGIN).searchParams.get("token") ?? ""
    const short = await other.submit("/reset-password", { token, password: "short" })
    expect(await short.text()).toContain("A password has at least 10 characters.")
    const form = { token, password: OTHER_PASSWORD }
    const done = await other.submit("/reset-password", form)
    expect(done.headers.get("location")).toBe("/sign-in")
    expect(await person.isSignedIn()).toBe(false)
    const again = await other.submit("/reset-password", form)
    expect(await again.text()).toContain("The link is used")
    await other.submit("/sign-in", { email: person.email, password: OTHER_PASSWORD })
    expect(await other.isSignedIn()).toBe(true)
  })

  it("invalidates all reset links that were mailed before", async () => {
    const { email, submit } = await makePerson(service)
    await submit("/forgot-password", { email })
    const first = service.linkTo(email)
    await submit("/forgot-password", { email })
    const tokens = [service.linkTo(email), first].map(
      (link) => new URL(link, ORIGIN).searchParams.get("token") ?? "",
    )
    const statuses: number[] = []
    for (const token of tokens) {
      statuses.push((await submit("/reset-password", { token, password: OTHER_PASSWORD })).status)
    }
    expect(statuses).toEqual([303, 422])
  })

  it("gets the same response for known and unknown emails", async () => {
    const { email } = await makePerson(service)
    async function ask(of: string) {
      const answer = await service.visitor().post("/request-password-reset", { email: of })
      return [answer.status, await answer.text()]
    }
    const count = service.mails.length
    expect(await ask(email)).toEqual(await ask(newEmail()))
    expect(service.mails.slice(count).map(({ to }) => to)).toEqual([email])
  })

  it("confirms the email of its user", async () => {
    const [email, visitor] = [newEmail(), service.visitor()]
    await visitor.submit("/sign-up", { email, password: OTHER_PASSWORD })
    await visitor.submit("/forgot-password", { email })
    const token = new URL(service.linkTo(email), ORIGIN).searchParams.get("token") ?? ""
    await visitor.submit("/reset-password", { token, password: PASSWORD })
    await visitor.submit("/sign-in", { email, password: PASSWORD })
    expect(await visitor.isSignedIn()).toBe(true)
  })

  it("is refused without the link, or with its hash from the database", async () => {
    const { email, submit } = await makePerson(service)
    await submit("/forgot-password", { email })
    const token = new URL(service.linkTo(email), ORIGIN).searchParams.get("token") ?? ""
    const { results } = await service.env.DB.prepare("select * from verifications").all()
    expect(JSON.stringify(results)).not.toContain(token)
    for (const guess of ["", "x", String(results.at(-1)?.["identifier"])]) {
      const answer = await submit("/reset-password", { token: guess, password: PASSWORD })
      expect(answer.status).toBe(422)
    }
  })
})

describe("a user", () => {
  it("changes the password by the previous one", async () => {
    const person = await makePerson(service)
    const body = { newPassword: OTHER_PASSWORD, revokeOtherSessions: true }
    const wrong = await person.post("/change-password", { ...body, currentPassword: "wrong one" })
    expect(wrong.status).toBe(400)
    const other = service.visitor()
    await other.submit("/sign-in", { email: person.email, password: PASSWORD })
    const done = await person.post("/change-password", { ...body, currentPassword: PASSWORD })
    expect(done.status).toBe(200)
    expect([await person.isSignedIn(), await other.isSignedIn()]).toEqual([true, false])
  })

  it("is deleted by the password or soon after sign-in", async () => {
    const person = await makePerson(service)
    const [user] = await database.select().from(users).where(eq(users.email, person.email))
    const past = new Date(Date.now() - 3_600_000)
    await database
      .update(sessions)
      .set({ createdAt: past })
      .where(eq(sessions.userId, user?.id ?? ""))
    expect((await person.post("/delete-user", {})).status).toBe(400)
    expect((await person.post("/delete-user", { password: "wrong one" })).status).toBe(400)
    expect((await person.post("/delete-user", { password: PASSWORD })).status).toBe(200)
    expect(await person.isSignedIn()).toBe(false)
    const [account] = await database
      .select()
      .from(accounts)
      .where(eq(accounts.id, user?.accountId ?? ""))
    expect(account?.deletedAt ?? 0).toBeGreaterThan(0)
  })
})
