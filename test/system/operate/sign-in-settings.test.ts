import { afterAll, beforeAll, expect, it } from "vitest"
import { z } from "zod"
import { readdirSync } from "node:fs"
import { startReceiver } from "../receiver.ts"
import type { Receiver } from "../receiver.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { makeVisitor } from "./visitor.ts"

const RESEND_API_KEY = "re_a_key_that_only_this_test_knows"
const PASSWORD = "a password of twenty-six letters"

let provider: Receiver
let service: TestService
const lines: string[] = []

beforeAll(async () => {
  // Busy at first, as providers are at times.
  provider = await startReceiver(
    (response, before) => void response.writeHead(before === 0 ? 503 : 200).end("{}"),
  )
  service = await startService({
    SIGN_UP: "open",
    RUNNER_CAPACITY: "1",
    CLIENT_ADDRESS_HEADER: "X-Real-IP",
    PUBLIC_ORIGIN: "https://lathe.example",
    RESEND_API_KEY,
    MAIL_API_URL: `${provider.origin}/emails`,
    MAIL_FROM: "Lathe <hello@lathe.example>",
    ALLOWED_PRIVATE_HOSTS: new URL(provider.origin).host,
  })
  service.onLine((line) => lines.push(line))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})

const sentMail = z.object({
  from: z.string(),
  to: z.array(z.string()),
  subject: z.string(),
  text: z.string(),
  html: z.string(),
})

/** A visitor whose pages are at the public origin, as a proxy in front passes them on. */
function visitorAt(address: string) {
  return makeVisitor(service.origin, { "x-real-ip": address, host: "lathe.example" })
}

async function signUp(email: string, address: string): Promise<Response> {
  return await visitorAt(address).visit("/sign-up", {
    method: "POST",
    headers: { origin: "https://lathe.example" },
    body: new URLSearchParams({ email, password: PASSWORD }),
  })
}

it("sends mails by the provider, retries a busy provider, and stores no mail", async () => {
  await signUp("ada@people.test", "198.51.100.1")
  const [busy, taken] = await provider.untilReceived(2)
  expect(taken?.headers["authorization"]).toBe(`Bearer ${RESEND_API_KEY}`)
  expect(taken?.headers["idempotency-key"]).toBe(busy?.headers["idempotency-key"])
  const mail = sentMail.parse(JSON.parse(taken?.body ?? ""))
  expect(mail).toMatchObject({ from: "Lathe <hello@lathe.example>", to: ["ada@people.test"] })
  const link = /https:\/\/lathe\.example\/verify-email\?token=\S+/.exec(mail.text)?.[0] ?? ""
  expect(mail.html).toContain(`<a href="${link}">`)
  expect(readdirSync(service.stateDir)).not.toContain("mails")
  expect(lines.join("\n")).not.toContain(RESEND_API_KEY)
  expect(lines.join("\n")).not.toContain(new URL(link).searchParams.get("token"))
})

it("counts password guesses by the client address of the proxy", async () => {
  async function guess(address: string): Promise<number> {
    const answer = await visitorAt(address).visit("/api/auth/sign-in/email", {
      method: "POST",
      headers: { "content-type": "application/json", origin: "https://lathe.example" },
      body: JSON.stringify({ email: "nobody@people.test", password: "a guess of some letters" }),
    })
    return answer.status
  }
  const statuses: number[] = []
  // The caller's own header value comes before the value that the proxy adds.
  for (let sent = 0; sent < 11; sent += 1) {
    statuses.push(await guess(`203.0.113.${sent}, 198.51.100.2`))
  }
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429])
  expect(await guess("198.51.100.3")).toBe(401)
})
