import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { AUTH_ROUTES } from "../../../src/accounts/sign-in/limits.ts"
import { sweepDirectly } from "../../support/sweep.ts"
import { makePerson, makeService, newEmail, ORIGIN, PASSWORD } from "./visitor.ts"

const service = makeService({ SIGN_UP: "open" })

/** Returns the requests to a route that an address may make in a minute. */
function requestsMax(path: string): number {
  return AUTH_ROUTES.find((route) => route.path === path)?.requestsMax ?? 0
}

function guess(address: string, headers: Record<string, string> = {}): Promise<Response> {
  return service.ask("/api/auth/sign-in/email", {
    method: "POST",
    headers: {
      origin: ORIGIN,
      "content-type": "application/json",
      "cf-connecting-ip": address,
      ...headers,
    },
    body: JSON.stringify({ email: newEmail(), password: "a guess of some letters" }),
  })
}

describe("guesses of passwords", () => {
  it("reach the check from one address as often as the rule allows, even if all come at once", async () => {
    const answers = await Promise.all(Array.from({ length: 64 }, () => guess("203.0.113.7")))
    const checked = answers.filter(({ status }) => status === 401)
    const refused = answers.filter(({ status }) => status === 429)
    expect(checked).toHaveLength(requestsMax("/sign-in/email"))
    expect(checked.length + refused.length).toBe(64)
    for (const { headers } of refused) {
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0)
    }
  })

  it("of one address delay no other, and no header of a caller changes the address", async () => {
    const address = "203.0.113.8"
    await Promise.all(Array.from({ length: 12 }, () => guess(address)))
    expect((await guess("203.0.113.9")).status).toBe(401)
    const spoofed = { "x-forwarded-for": "203.0.113.10", "x-real-ip": "203.0.113.10" }
    expect((await guess(address, spoofed)).status).toBe(429)
  })

  it("count together in an IPv6 network of one caller", async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, at) => guess(`2001:db8:1:2::${(at + 1).toString(16)}`)),
    )
    expect((await guess("2001:db8:1:2:ffff::1")).status).toBe(429)
    expect((await guess("2001:db8:1:3::1")).status).toBe(401)
  })

  it("get the time of the next try in the form", async () => {
    const visitor = service.visitor()
    const form = { email: newEmail(), password: "a guess of some letters" }
    const max = requestsMax("/sign-in/email")
    for (let sent = 0; sent < max; sent += 1) await visitor.submit("/sign-in", form)
    const answer = await visitor.submit("/sign-in", form)
    expect(answer.status).toBe(429)
    const seconds = answer.headers.get("retry-after")
    expect(await answer.text()).toContain(`Try again in ${seconds} seconds.`)
  })
})

describe("mails that an address requests", () => {
  it.each(["/request-password-reset", "/send-verification-email"] as const)(
    "are bounded (%s)",
    async (path) => {
      const visitor = service.visitor()
      const max = requestsMax(path)
      const asked = Array.from({ length: max + 3 }, () => visitor.post(path, { email: newEmail() }))
      const statuses = (await Promise.all(asked)).map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(max)
      expect(statuses.filter((status) => status === 429)).toHaveLength(3)
    },
  )
})

async function countTries(): Promise<number> {
  return (await env.DB.prepare("select count(*) as n from sign_in_tries").first<number>("n")) ?? 0
}

describe("an unmounted path below /api/auth", () => {
  const visitor = service.visitor()

  it("returns 404 and counts and stores nothing, for any number of requests", async () => {
    const before = await countTries()
    const statuses = new Set<number>()
    for (let sent = 0; sent < 1000; sent += 1) {
      const path = `/api/auth/${"x".repeat(sent)}${sent}`
      const answer = await visitor.visit(path, { method: sent % 2 === 0 ? "GET" : "POST" })
      await answer.body?.cancel()
      statuses.add(answer.status)
    }
    expect([...statuses]).toEqual([404])
    expect(await countTries()).toBe(before)
  })

  it.each([
    ["GET", "/ok"],
    ["GET", "/error"],
    ["GET", "/get-session"],
    ["GET", "/list-sessions"],
    ["GET", "/reset-password/token"],
    ["GET", "/delete-user/callback"],
    ["POST", "/callback/github"],
    ["GET", "/sign-in/email"],
    ["POST", "/sign-in/email/"],
    ["POST", "/sign-in/%65mail"],
    ["POST", "//sign-in/email"],
    ["HEAD", "/verify-email"],
    ["POST", "/update-user"],
    ["POST", "/verify-password"],
    ["POST", "/link-social"],
  ])("returns 404 even if better-auth has a route: %s %s", async (method, path) => {
    const headers = { origin: ORIGIN, "content-type": "application/json" }
    const body = method === "POST" ? "{}" : null
    const answer = await visitor.visit(`/api/auth${path}`, { method, headers, body })
    expect(answer.status).toBe(404)
  })
})

describe("tries of an address", () => {
  it("have one row for all routes, which the sweep removes", async () => {
    const before = await countTries()
    const visitor = service.visitor()
    for (const { method, path } of AUTH_ROUTES) {
      const headers = { origin: ORIGIN, "content-type": "application/json" }
      const body = method === "POST" ? "{}" : null
      await visitor.visit(`/api/auth${path}`, { method, headers, body })
    }
    expect(await countTries()).toBe(before + 1)
    await sweepDirectly(service.env, Date.now() + 600_000)
    expect(await countTries()).toBe(0)
  })
})

describe("the length of stored fields", () => {
  it("is bounded for an email at sign-up, with a message", async () => {
    const email = `${"x".repeat(64)}@${"y.".repeat(120)}test`
    const answer = await service.visitor().submit("/sign-up", { email, password: PASSWORD })
    expect(answer.status).toBe(422)
    expect(await answer.text()).toContain("An email has at most 254 characters.")
    const query = "select count(*) as n from users where email = ?"
    expect(await env.DB.prepare(query).bind(email).first("n")).toBe(0)
  })

  it("is bounded for the browser's name", async () => {
    const { email } = await makePerson(service)
    const answer = await service.visitor().visit("/sign-in", {
      method: "POST",
      headers: { origin: ORIGIN, "user-agent": "a browser ".repeat(400) },
      body: new URLSearchParams({ email, password: PASSWORD }),
    })
    expect(answer.status).toBe(303)
    const query = "select max(length(user_agent)) as n from sessions"
    expect(await env.DB.prepare(query).first("n")).toBe(300)
  })

  it.each(["/sign-in", "/api/auth/sign-in/email"])("is bounded for a body (%s)", async (path) => {
    const body = new URLSearchParams({ email: newEmail(), password: "x".repeat(9000) })
    const answer = await service.visitor().visit(path, {
      method: "POST",
      headers: { origin: ORIGIN },
      body,
    })
    expect(answer.status).toBe(413)
  })
})
