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

/**
 * A key counts without a look-up for so long. `forget` is called for one that is revoked or has
 * another plan; should that call be lost, this bounds for how long the old answer counts.
 */
const KNOWN_MS = 1_000
/** Known for so long, a key is looked up beside the request, so that busy keys never wait for it. */
const FRESH_MS = 500

/**
 * Knows one key, by its hash, counts its requests in windows of a minute and holds the leases of
 * its uploads; all in memory, so that a restart costs a look-up and forgives a minute, and uploads
 * that go on are counted again as they are renewed.
 */
export class RateLimiter extends DurableObject<Env> implements RateLimiterRpc {
  #known: { account: KeyHolder; since: number } | null = null
  #lookUp: Promise<KeyHolder | null> | null = null
  #timesForgotten = 0
  #windowEnds = 0
  #used = 0
  /** When the lease of each upload ends. */
  readonly #uploads = new Map<string, number>()

  async take(hash: string): Promise<Allowance | null> {
    const account = await this.#holderOf(hash)
    if (!account) return null
    const now = Date.now()
    const limit = limitsOf(account.plan, settingsOf(this.env)).requestsPerMinute
    const windowMs = this.#windowEnds - now
    if (windowMs <= 0 || windowMs > WINDOW_SECONDS * 1000) {
      this.#windowEnds = now + WINDOW_SECONDS * 1000
      this.#used = 0
    }
    const allowed = this.#used < limit
    if (allowed) this.#used += 1
    const resetSeconds = Math.ceil((this.#windowEnds - now) / 1000)
    const remaining = Math.max(0, limit - this.#used)
    return { account, limit, allowed, remaining, resetSeconds }
  }

  async isValid(hash: string): Promise<boolean> {
    return (await this.#holderOf(hash)) !== null
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
    this.#timesForgotten += 1
  }

  async #holderOf(hash: string): Promise<KeyHolder | null> {
    const known = this.#known
    const ageMs = known ? Date.now() - known.since : KNOWN_MS
    if (!known || ageMs < 0 || ageMs >= KNOWN_MS) return await this.#find(hash)
    if (ageMs >= FRESH_MS) this.ctx.waitUntil(this.#find(hash).catch(() => null))
    return known.account
  }

  /** Looks the key up, once for all who ask meanwhile. */
  async #find(hash: string): Promise<KeyHolder | null> {
    this.#lookUp ??= this.#findAnew(hash).finally(() => {
      this.#lookUp = null
    })
    return await this.#lookUp
  }

  /** An answer that was under way while the key was forgotten may be the old one. */
  async #findAnew(hash: string): Promise<KeyHolder | null> {
    for (;;) {
      const [since, timesForgotten] = [Date.now(), this.#timesForgotten]
      const account = await findKey(directoryOf(this.env), hash)
      if (timesForgotten !== this.#timesForgotten) continue
      this.#known = account && { account, since }
      return account
    }
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
