import { DurableObject } from "cloudflare:workers"
import { limitsOf, settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import type { Allowance, KeyHolder, RateLimiterRpc } from "../rpc.ts"
import { directoryOf } from "../storage/database.ts"
import { findKey } from "../storage/keys.ts"
import type { AppContext } from "./request.ts"
import { Problem } from "./problem.ts"
import { UPLOAD_LEASE_MS, UPLOADS_MAX } from "./upload-places.ts"

const WINDOW_SECONDS = 60

/** A valid key is looked up again after this; `forget` is called for one that is revoked. */
const KNOWN_MS = 60_000

/**
 * Knows one key, by its hash, counts its requests in windows of a minute and holds the leases of
 * its uploads; all in memory, so that a restart costs a look-up and forgives a minute, and uploads
 * that go on are counted again as they are renewed.
 */
export class RateLimiter extends DurableObject<Env> implements RateLimiterRpc {
  #known: { account: KeyHolder; until: number } | null = null
  #windowEnds = 0
  #used = 0
  /** When the lease of each upload ends. */
  readonly #uploads = new Map<string, number>()

  async take(hash: string): Promise<Allowance | null> {
    const now = Date.now()
    if (!this.#known || this.#known.until <= now) {
      const found = await findKey(directoryOf(this.env), hash)
      this.#known = found && { account: found, until: now + KNOWN_MS }
    }
    if (!this.#known) return null
    const { account } = this.#known
    const limit = limitsOf(account.plan, settingsOf(this.env)).requestsPerMinute
    if (now >= this.#windowEnds) {
      this.#windowEnds = now + WINDOW_SECONDS * 1000
      this.#used = 0
    }
    const allowed = this.#used < limit
    if (allowed) this.#used += 1
    const resetSeconds = Math.ceil((this.#windowEnds - now) / 1000)
    return { account, limit, allowed, remaining: limit - this.#used, resetSeconds }
  }

  async beginUpload(uploadId: string): Promise<boolean> {
    const now = Date.now()
    for (const [id, until] of this.#uploads) if (until <= now) this.#uploads.delete(id)
    if (this.#uploads.size >= UPLOADS_MAX) return false
    this.#uploads.set(uploadId, now + UPLOAD_LEASE_MS)
    return true
  }

  async renewUpload(uploadId: string): Promise<void> {
    this.#uploads.set(uploadId, Date.now() + UPLOAD_LEASE_MS)
  }

  async endUpload(uploadId: string): Promise<void> {
    this.#uploads.delete(uploadId)
  }

  async forget(): Promise<void> {
    this.#known = null
  }
}

/** Says how much a key may still ask; throws where it asked too much, with when it may again. */
export function applyAllowance(c: AppContext, allowance: Allowance): void {
  const { limit, allowed, remaining, resetSeconds } = allowance
  const headers = {
    ratelimit: `"requests";r=${remaining};t=${resetSeconds}`,
    "ratelimit-policy": `"requests";q=${limit};w=${WINDOW_SECONDS}`,
  }
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  if (allowed) return
  throw new Problem(
    "rate_limit_exceeded",
    `This key may make ${limit} requests a minute; ask again in ${resetSeconds} seconds.`,
    { retryAfterSeconds: resetSeconds, headers: { ...headers, "retry-after": `${resetSeconds}` } },
  )
}
