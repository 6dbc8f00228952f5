import { describe, expect, it } from "vitest"
import { registerSecrets, redactLogField, redactText } from "../../src/contract/redact.ts"

const key = "lathe_0aZ9bY8cX7dW6eV5fU4gT3hS2iR1jQ0kP9lO8mN7"
const signature = "q3Jx0aVb-7ZtLw_9KcPdE2uYsN4oMrT6iHgXfB1vQ8k"
const id = "0192f3c4-9f6a-7c3e-8f0b-2b6f7f1a9c11"

describe("redactText", () => {
  it.each([
    ["an API key", `no key ${key} here`, key],
    ["a key in a query", `GET /v1/files?key=${key}&limit=3`, key],
    ["a webhook secret", "signed by whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8GKYqr"],
    ["a bearer", "authorization: Bearer abc.def.ghi", "abc.def.ghi"],
    ["basic credentials", "Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"],
    ["a signed link", `/media/acc.${id}.1790000000000.inline.${signature}/a.mp4`, signature],
    ["a token of a run", `token ${id}.${id}.${id}.3.${signature} was refused`, signature],
    ["a link to set a password", "/reset-password/hunter2hunter2", "hunter2hunter2"],
    ["a user and a password", "fetch https://me:hunter2@example.com/x failed", "hunter2"],
    ["a password with an @", "fetch https://me:hun@ter2@example.com/x failed", "ter2"],
    ["a query of an address", "https://example.com/a?X-Amz-Signature=abcdef", "abcdef"],
    ["a path of an address", "https://hooks.example.com/services/T00/B00/XXXX", "B00"],
    ["a cookie", "cookie: a=hunter2; b=c", "hunter2"],
    ["a cookie that is set", '{"set-cookie":"sid=hunter2; Path=/"}', "hunter2"],
    ["the cookie of a session", "better-auth.session_token=hunter2.abc", "hunter2"],
    ["a line of a cookies.txt", ".example.com\tTRUE\t/\tFALSE\t0\tsid\thunter2", "hunter2"],
    ["a token in JSON", '{"token":"hunter2","a":1}', "hunter2"],
    ["a random text", `what is ${signature}?`, signature],
  ])("hides %s", (_what, text, secret) => {
    expect(redactText(text)).not.toContain(secret.slice(0, 12))
  })

  it.each([
    "The job 0192f3c4-9f6a-7c3e-8f0b-2b6f7f1a9c11 was not found.",
    "TypeError: x is not a function\n    at readConvertedMiniflareOptions (file:///srv/lathe/src/a.ts:3:5)",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "/v1/commands/0192f3c4-9f6a-7c3e-8f0b-2b6f7f1a9c11",
    "http://127.0.0.1:8787",
  ])("leaves %s as it is", (text) => {
    expect(redactText(text)).toBe(text)
  })

  it("keeps the host of a URL", () => {
    expect(redactText("fetch https://me:pw@example.com:81/x?y=z failed")).toBe(
      "fetch https://example.com:81/… failed",
    )
  })

  it("hides registered secrets in every encoding", () => {
    registerSecrets(['plain "words" here', undefined, "short"])
    const inJson = JSON.stringify({ a: 'plain "words" here' })
    expect(redactText(inJson)).not.toContain("words")
    expect(redactText(`?${encodeURIComponent('plain "words" here')}`)).not.toContain("words")
    expect(redactText("a short one")).toBe("a short one")
  })
})

describe("redactLogField", () => {
  it("hides every value under a secret's name", () => {
    expect(redactLogField("password", "hello")).toBe("[redacted]")
    expect(redactLogField("api_key", "hello")).toBe("[redacted]")
    expect(redactLogField("key_id", "hello")).toBe("hello")
  })

  it("shows an error's stack without secrets", () => {
    expect(redactLogField("cause", new Error(`no ${key}`))).toMatch(
      /^Error: no lathe_\[redacted\]\n/,
    )
  })
})
