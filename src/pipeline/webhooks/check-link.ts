import { sign, toBase64Url, verify } from "../../crypto/signature.ts"

const PURPOSE = "webhook-check"
const ANSWER_PURPOSE = "webhook-check-answer"
const NONCE_BYTES = 16
const LIFE_MS = 1_800_000

/** One check of webhooks: the last part of its address, and what only this service answers there. */
export type WebhookCheck = { token: string; answer: string; expiresAt: number }

/** Makes a check that expires after half an hour; its token says all of it, so nothing is stored. */
export async function makeWebhookCheck(secret: string, now: number): Promise<WebhookCheck> {
  const expiresAt = now + LIFE_MS
  const nonce = toBase64Url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  const text = `${expiresAt}.${nonce}`
  const token = `${text}.${await sign(secret, PURPOSE, text)}`
  return { token, answer: await sign(secret, ANSWER_PURPOSE, text), expiresAt }
}

/** The check of a token; null where the service did not make it. */
export async function readWebhookCheck(
  secret: string,
  token: string,
): Promise<WebhookCheck | null> {
  const [expiry = "", nonce = "", signature = "", ...rest] = token.split(".")
  const text = `${expiry}.${nonce}`
  if (rest.length > 0 || !(await verify(secret, PURPOSE, { text, signature }))) return null
  return { token, answer: await sign(secret, ANSWER_PURPOSE, text), expiresAt: Number(expiry) }
}
