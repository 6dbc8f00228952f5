const PREFIX = /^whsec_/

/**
 * Returns the webhook-signature header of Standard Webhooks 1.0: one `v1,` signature for each
 * secret, separated by spaces.
 */
export async function signWebhook(
  secrets: readonly string[],
  signed: { id: string; timestampSeconds: number; body: string },
): Promise<string> {
  const text = `${signed.id}.${signed.timestampSeconds}.${signed.body}`
  const bytes = Uint8Array.from(new TextEncoder().encode(text))
  const macs = await Promise.all(secrets.map((secret) => hmac(secret, bytes)))
  return macs.map((mac) => `v1,${mac}`).join(" ")
}

async function hmac(secret: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const raw = Uint8Array.from(atob(secret.replace(PREFIX, "")), (byte) => byte.charCodeAt(0))
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  const key = await crypto.subtle.importKey("raw", raw, algorithm, false, ["sign"])
  const mac = await crypto.subtle.sign("HMAC", key, bytes)
  return btoa(String.fromCharCode(...new Uint8Array(mac)))
}

const SECRET_BYTES = 24

/** Creates a secret that signs webhooks, in the format of Standard Webhooks. */
export function makeWebhookSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}

/** Time for which the previous secret signs in addition to the new secret, in milliseconds. */
export const PREVIOUS_SECRET_VALID_MS = 24 * 3_600_000

/** Secret of an account or an endpoint, with the previous secret and the time of the rotation. */
export type SecretWithPrevious = {
  secret: string
  secretBefore: string | null
  secretRotatedAt: number | null
}

/** Returns the secrets that sign webhooks at a time, the newest first. */
export function listSigningSecrets(
  { secret, secretBefore: before, secretRotatedAt: rotatedAt }: SecretWithPrevious,
  now: number,
): string[] {
  if (before === null || rotatedAt === null) return [secret]
  return now < rotatedAt + PREVIOUS_SECRET_VALID_MS ? [secret, before] : [secret]
}

/**
 * Returns the time until which the previous secret signs, or null if the previous secret no longer
 * signs.
 */
export function computePreviousSecretExpiry(rotatedAt: number | null, now: number): number | null {
  const until = rotatedAt === null ? null : rotatedAt + PREVIOUS_SECRET_VALID_MS
  return until !== null && until > now ? until : null
}
