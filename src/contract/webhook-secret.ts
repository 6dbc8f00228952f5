const SECRET_BYTES = 24

/** A new secret that signs an account's webhooks, as Standard Webhooks writes it. */
export function makeWebhookSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}
