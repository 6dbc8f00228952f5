import { Webhook } from "standardwebhooks"
import { describe, expect, it } from "vitest"
import { makeWebhookSecret, listSigningSecrets, signWebhook } from "../../src/webhooks/signing.ts"

const HOUR_MS = 3_600_000

async function signed(secrets: string[], body: string) {
  const id = "0198f0b2-7c11-7cc3-9f3e-0a6b3d2f1a11"
  const timestampSeconds = Math.floor(Date.now() / 1000)
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": await signWebhook(secrets, { id, timestampSeconds, body }),
  }
}

describe("the signature of a webhook", () => {
  it("is verified by the reference library, and fails over another body", async () => {
    const secret = makeWebhookSecret()
    const body = JSON.stringify({ type: "command.succeeded", data: { name: "Größe 😀" } })
    const headers = await signed([secret], body)
    expect(headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow(/signature/)
    expect(() => new Webhook(makeWebhookSecret()).verify(body, headers)).toThrow(/signature/)
  })

  it("uses both secrets for a day after a rotation", async () => {
    const [secret, secretBefore] = [makeWebhookSecret(), makeWebhookSecret()]
    const rotated = { secret, secretBefore, secretRotatedAt: 0 }
    expect(listSigningSecrets(rotated, 24 * HOUR_MS)).toEqual([secret])
    const secrets = listSigningSecrets(rotated, 24 * HOUR_MS - 1)
    expect(secrets).toEqual([secret, secretBefore])
    const headers = await signed(secrets, "{}")
    expect(headers["webhook-signature"].split(" ")).toHaveLength(2)
    for (const each of secrets) expect(new Webhook(each).verify("{}", headers)).toEqual({})
  })
})
