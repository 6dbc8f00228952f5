const PREFIX = /^whsec_/

/**
 * The webhook-signature header of Standard Webhooks 1.0: one `v1,` signature for each secret,
 * separated by spaces.
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

/** A new secret that signs an account's webhooks, as Standard Webhooks writes it. */
export function makeWebhookSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}

/** How long the secret before still signs beside the new one. */
export const SECRET_OVERLAP_MS = 24 * 3_600_000

/** The secrets that sign an account's webhooks at a moment, the newest first. */
export function signingSecrets(
  account: {
    webhookSecret: string
    webhookSecretBefore: string | null
    webhookSecretRotatedAt: number | null
  },
  now: number,
): string[] {
  const { webhookSecret, webhookSecretBefore: before, webhookSecretRotatedAt: rotatedAt } = account
  if (before === null || rotatedAt === null) return [webhookSecret]
  return now < rotatedAt + SECRET_OVERLAP_MS ? [webhookSecret, before] : [webhookSecret]
}
