import { describe, expect, it } from "vitest"
import { SIGN_IN_LIMITS } from "../../src/auth/limits.ts"
import { makeService, newEmail, ORIGIN } from "./visitor.ts"

const service = makeService({ SIGN_UP: "open" })

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
  it("reach the check from one address as often as the rule says, though all come at once", async () => {
    const answers = await Promise.all(Array.from({ length: 64 }, () => guess("203.0.113.7")))
    const checked = answers.filter(({ status }) => status === 401)
    const refused = answers.filter(({ status }) => status === 429)
    expect(checked).toHaveLength(SIGN_IN_LIMITS["/sign-in/email"].max)
    expect(checked.length + refused.length).toBe(64)
    for (const { headers } of refused) {
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0)
    }
  })

  it("of one address hold up no other, and no header that callers send makes another of it", async () => {
    const address = "203.0.113.8"
    await Promise.all(Array.from({ length: 12 }, () => guess(address)))
    expect((await guess("203.0.113.9")).status).toBe(401)
    const spoofed = { "x-forwarded-for": "203.0.113.10", "x-real-ip": "203.0.113.10" }
    expect((await guess(address, spoofed)).status).toBe(429)
  })

  it("count together in a network of IPv6 that one caller has whole", async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, at) => guess(`2001:db8:1:2::${(at + 1).toString(16)}`)),
    )
    expect((await guess("2001:db8:1:2:ffff::1")).status).toBe(429)
    expect((await guess("2001:db8:1:3::1")).status).toBe(401)
  })

  it("are told at the form when to try again", async () => {
    const visitor = service.visitor()
    const form = { email: newEmail(), password: "a guess of some letters" }
    const { max } = SIGN_IN_LIMITS["/sign-in/email"]
    for (let sent = 0; sent < max; sent += 1) await visitor.submit("/sign-in", form)
    const answer = await visitor.submit("/sign-in", form)
    expect(answer.status).toBe(429)
    const seconds = answer.headers.get("retry-after")
    expect(await answer.text()).toContain(`Try again in ${seconds} seconds.`)
  })
})

describe("mails that an address asks for", () => {
  it.each(["/request-password-reset", "/send-verification-email"] as const)(
    "are bounded (%s)",
    async (path) => {
      const visitor = service.visitor()
      const { max } = SIGN_IN_LIMITS[path]
      const asked = Array.from({ length: max + 3 }, () => visitor.post(path, { email: newEmail() }))
      const statuses = (await Promise.all(asked)).map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(max)
      expect(statuses.filter((status) => status === 429)).toHaveLength(3)
    },
  )
})
