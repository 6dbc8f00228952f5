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
