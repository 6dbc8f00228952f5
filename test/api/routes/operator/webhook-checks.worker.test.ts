import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { makeWebhookCheck } from "../../../../src/api/routes/operator/routes.ts"
import { fetchWorker, fetchOperatorRoute } from "../../../support/caller.ts"

const HOUR_MS = 3_600_000
const SECRET = env.LATHE_SECRET ?? ""

function deliver(url: string, body = '{"id":"a job"}', method = "POST"): Promise<Response> {
  const headers = { "content-type": "application/json" }
  return fetchWorker(url, { method, headers, ...(method === "POST" && { body }) })
}

describe("the URL of a webhook check", () => {
  it("is created only for the operator", async () => {
    const answer = await fetchWorker("/operator/webhook-checks", { method: "POST" })
    expect(answer.status).toBe(401)
  })

  it("answers with a text that the operator knows in advance", async () => {
    const made = await fetchOperatorRoute("/webhook-checks", { method: "POST" })
    expect(made.status).toBe(201)
    const { url, answer, expires_at: expiresAt } = await made.json<Record<string, string>>()
    expect(url).toMatch(/^https:\/\/lathe\.test\/operator\/webhook-checks\/[\w.-]+$/)
    expect(url).not.toContain(answer)
    expect(Date.parse(expiresAt ?? "")).toBeLessThan(Date.now() + HOUR_MS)
    const delivered = await deliver(url ?? "")
    expect(delivered.status).toBe(200)
    expect(await delivered.json()).toEqual({ answer })
  })

  it("differs each time, with its answer", async () => {
    const [one, other] = await Promise.all([
      makeWebhookCheck(SECRET, Date.now()),
      makeWebhookCheck(SECRET, Date.now()),
    ])
    expect(one.token).not.toBe(other.token)
    expect(one.answer).not.toBe(other.answer)
  })

  it("is valid for half an hour, and only unchanged", async () => {
    const late = await makeWebhookCheck(SECRET, Date.now() - HOUR_MS)
    expect((await deliver(`/operator/webhook-checks/${late.token}`)).status).toBe(410)
    const [expiry, nonce, signature] = late.token.split(".")
    const later = `${Date.now() + HOUR_MS}.${nonce}.${signature}`
    const another = (await makeWebhookCheck("x".repeat(32), Date.now())).token
    for (const token of [later, `${expiry}.${nonce}`, another, `${late.token}.x`, "x"]) {
      expect((await deliver(`/operator/webhook-checks/${token}`)).status).toBe(403)
    }
  })

  it("accepts a JSON body of bounded size, only by POST", async () => {
    const { token } = await makeWebhookCheck(SECRET, Date.now())
    const url = `/operator/webhook-checks/${token}`
    expect((await deliver(url, "no JSON")).status).toBe(422)
    expect((await deliver(url, `{"a":"${"x".repeat(2 ** 20)}"}`)).status).toBe(413)
    expect((await deliver(url, "", "GET")).status).not.toBe(200)
    expect((await fetchWorker(url, { method: "POST", body: "{}" })).status).toBe(415)
  })
})
