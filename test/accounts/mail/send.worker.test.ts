import { env } from "cloudflare:workers"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import type { Env } from "../../../src/bindings/env.ts"
import { sendMail } from "../../../src/accounts/mail/send.ts"

const KEY = "re_a_key_that_only_this_test_knows"
const MAIL = { to: "ada@people.test", subject: "Hello", text: "https://lathe.test/?token=secret" }

const posted: Request[] = []
const logged: string[] = []

beforeEach(() => {
  posted.length = 0
  logged.length = 0
  vi.spyOn(console, "error").mockImplementation((line: unknown) => void logged.push(String(line)))
})
afterEach(() => void vi.unstubAllGlobals())

/** A provider that returns these statuses in turn. */
function provide(...statuses: number[]): Env {
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    posted.push(new Request(url, init))
    return new Response("{}", { status: statuses[posted.length - 1] ?? 200 })
  })
  return { ...env, RESEND_API_KEY: KEY }
}

it("is tried again while the provider is busy, three times in all, as one mail", async () => {
  await sendMail(provide(500, 429, 500), MAIL)
  expect(posted).toHaveLength(3)
  expect(new Set(posted.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1)
  expect(logged.join("\n")).toContain("mail.failed")
})

it("is not tried again if the provider refuses it", async () => {
  await sendMail(provide(422), MAIL)
  expect(posted).toHaveLength(1)
  expect(logged.join("\n")).toContain("status 422")
})

it("writes neither the key nor its text to the log", async () => {
  await sendMail(provide(401), MAIL)
  await sendMail(env, MAIL)
  expect(logged).toHaveLength(2)
  expect(logged.join("\n")).not.toContain(KEY)
  expect(logged.join("\n")).not.toContain("token=secret")
})

it("is an error for the operator without a provider", async () => {
  await sendMail(env, MAIL)
  expect(logged.join("\n")).toContain("RESEND_API_KEY")
})
