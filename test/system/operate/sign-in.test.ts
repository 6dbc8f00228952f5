import { execFile } from "node:child_process"
import { statSync } from "node:fs"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { startGitLab } from "../web/gitlab.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { mailedLink, mailsTo } from "./kept-mails.ts"
import { makeVisitor } from "./visitor.ts"

const PASSWORD = "a password of twenty-six letters"
const run = promisify(execFile)

let gitlab: Awaited<ReturnType<typeof startGitLab>>
let service: TestService
const lines: string[] = []

beforeAll(async () => {
  gitlab = await startGitLab()
  service = await startService({
    SIGN_UP: "open",
    RUNNER_CAPACITY: "1",
    ALLOWED_PRIVATE_HOSTS: gitlab.host,
    SIGN_IN_PROVIDERS: JSON.stringify({
      gitlab: { clientId: "lathe", clientSecret: "gitlab-secret", issuer: gitlab.origin },
    }),
  })
  service.onLine((line) => lines.push(line))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await gitlab[Symbol.asyncDispose]()
})

async function keys(words: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ["scripts/keys/main.ts", ...words], {
    env: {
      ...makeChildEnvironment(),
      PORT: new URL(service.origin).port,
      STATE_DIR: service.stateDir,
    },
  })
  return stdout
}

describe("a new user", () => {
  it("follows the link of a mail that only the operator of the machine can read", async () => {
    const email = "ada@people.test"
    const visitor = makeVisitor(service.origin)
    await visitor.submit("/sign-up", { email, password: PASSWORD })
    const link = await mailedLink(service.stateDir, email)
    const [path = ""] = await mailsTo(service.stateDir, email)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    const told = lines.filter((line) => line.includes(email))
    expect(told.join("\n")).toContain(path)
    expect(lines.join("\n")).not.toContain(new URL(link).searchParams.get("token"))
    await visitor.visit(link)
    expect(await visitor.isSignedIn()).toBe(false)
    await visitor.confirm(link, PASSWORD)
    expect(await visitor.isSignedIn()).toBe(true)
    await visitor.submit("/sign-out", {})
    expect(await visitor.isSignedIn()).toBe(false)
    await visitor.submit("/sign-in", { email, password: PASSWORD })
    expect(await visitor.isSignedIn()).toBe(true)
    await visitor.submit("/forgot-password", { email })
    const reset = new URL(await mailedLink(service.stateDir, email, 1))
    const token = reset.searchParams.get("token") ?? ""
    const form = { token, password: "another password of many letters" }
    expect((await visitor.submit("/reset-password", form)).status).toBe(303)
    expect(await visitor.isSignedIn()).toBe(false)
    await visitor.submit("/sign-in", { email, password: form.password })
    expect(await visitor.isSignedIn()).toBe(true)
  })
})

describe("the operator", () => {
  it("is created by the command line, and sets the password by the printed link", async () => {
    const printed = await keys(["operator", "operator@people.test"])
    const link = printed.trim().split("\n").at(-1) ?? ""
    const visitor = makeVisitor(service.origin)
    expect(await (await visitor.visit(link)).text()).toContain("Set a password")
    const token = new URL(link).searchParams.get("token") ?? ""
    await visitor.submit("/reset-password", { token, password: PASSWORD })
    await visitor.submit("/sign-in", { email: "operator@people.test", password: PASSWORD })
    expect(await (await visitor.visit("/")).text()).toContain("/operate/accounts")
  })

  it("needs a valid email", async () => {
    await expect(keys(["operator", "nobody"])).rejects.toThrow("expected an email address")
  })
})

describe("sign-in by another service", () => {
  async function signInByGitLab(
    user: { id: number; email: string; confirmed_at: string | null },
    meanwhile?: (visitor: ReturnType<typeof makeVisitor>) => Promise<unknown>,
  ) {
    const visitor = makeVisitor(service.origin)
    const begun = await visitor.visit("/sign-in/with/gitlab?next=/keys")
    const there = new URL(begun.headers.get("location") ?? "")
    expect(there.origin).toBe(gitlab.origin)
    const code = `code-of-${user.id}`
    gitlab.consent(code, user)
    const back = new URL(there.searchParams.get("redirect_uri") ?? "")
    back.searchParams.set("code", code)
    back.searchParams.set("state", there.searchParams.get("state") ?? "")
    await meanwhile?.(visitor)
    const answer = await visitor.visit(back.href)
    return { visitor, location: answer.headers.get("location") ?? "" }
  }

  const confirmed = { confirmed_at: "2026-01-01T00:00:00Z" }

  it("creates a user whose email that service has confirmed, and recognizes the user later", async () => {
    const person = { id: 1, email: "bea@people.test", ...confirmed }
    const first = await signInByGitLab(person)
    expect(new URL(first.location, service.origin).pathname).toBe("/keys")
    expect(await first.visitor.isSignedIn()).toBe(true)
    const again = await signInByGitLab(person)
    expect(await again.visitor.isSignedIn()).toBe(true)
  })

  it("creates no user for an unconfirmed email", async () => {
    const { visitor, location } = await signInByGitLab({
      id: 2,
      email: "cem@people.test",
      confirmed_at: null,
    })
    expect(await (await visitor.visit(location)).text()).toContain(
      "has not verified your email address",
    )
    expect(await visitor.isSignedIn()).toBe(false)
  })

  it("signs in the existing user of a confirmed email only", async () => {
    const email = "dan@people.test"
    const own = makeVisitor(service.origin)
    await own.submit("/sign-up", { email, password: PASSWORD })
    await own.confirm(await mailedLink(service.stateDir, email), PASSWORD)
    const claimed = await signInByGitLab({ id: 3, email, confirmed_at: null })
    expect(await claimed.visitor.isSignedIn()).toBe(false)
    const page = await claimed.visitor.visit(claimed.location)
    expect(await page.text()).toContain("signs in another way")
    const joined = await signInByGitLab({ id: 4, email, ...confirmed })
    expect(await joined.visitor.isSignedIn()).toBe(true)
  })

  it("does not replace a session that began meanwhile", async () => {
    const email = "eva@people.test"
    const own = makeVisitor(service.origin)
    await own.submit("/sign-up", { email, password: PASSWORD })
    await own.confirm(await mailedLink(service.stateDir, email), PASSWORD)
    const another = { id: 5, email: "fay@people.test", ...confirmed }
    const { visitor } = await signInByGitLab(another, async ({ submit }) => {
      await submit("/sign-in", { email, password: PASSWORD })
    })
    expect(await (await visitor.visit("/settings")).text()).toContain(email)
  })
})

describe("guesses of passwords", () => {
  it("are counted by the address of the connection, whatever its headers contain", async () => {
    const statuses: number[] = []
    for (let sent = 0; sent < 14; sent += 1) {
      const visitor = makeVisitor(service.origin, {
        "cf-connecting-ip": `203.0.113.${sent}`,
        "x-forwarded-for": `203.0.113.${sent}`,
        "x-real-ip": `203.0.113.${sent}`,
      })
      const form = { email: "nobody@people.test", password: "a guess of some letters" }
      statuses.push((await visitor.submit("/sign-in", form)).status)
    }
    expect(statuses.at(-1)).toBe(429)
  })
})
