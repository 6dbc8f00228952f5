import { DurableObject } from "cloudflare:workers"
import { getSettings } from "../../bindings/env.ts"
import { computeEffectiveLimits } from "../../bindings/plan-limits.ts"
import type { Env } from "../../bindings/env.ts"
import { logError } from "../../platform/log.ts"
import type {
  RateLimitResult,
  Caller,
  PrefetchGrant,
  RateLimiterRpc,
  RateLimitRequest,
  UnusedPrefetchedRequests,
} from "../../bindings/rpc.ts"
import { formatUtcDay } from "../../db/accounts/account-limits.ts"
import { openAccountDatabases, openDirectory } from "../../db/database.ts"
import { findValidApiKey } from "../../db/accounts/keys.ts"
import { addRequestCountsToUsage } from "../../db/accounts/request-counts.ts"
import { RATE_LIMIT_WINDOW_SECONDS } from "./request-window.ts"
import { UPLOAD_LEASE_MS, CONCURRENT_UPLOADS_MAX } from "./upload-leases.ts"

/**
 * Validity of a cached key, in milliseconds. A revocation or a change of plan calls `forget`. If
 * that call is lost, the old key remains usable for this time.
 */
const KNOWN_MS = 1_000
/**
 * Age at which a cached key is read again in the background, so that requests of a busy key never
 * wait for the read.
 */
const FRESH_MS = 500

/**
 * Delay from a counted request to the write of the counts to storage, in milliseconds. Counts not
 * written yet are lost if the process dies. Cloudflare evicts an idle object after ten seconds at
 * the earliest, which is after the write.
 */
const WRITE_AFTER_MS = 5_000

/**
 * Factor by which the remaining requests of the window must exceed the requests to be granted in
 * advance. Otherwise none are granted in advance, so that the limit stays exact.
 */
const PLENTY = 4
const NOTHING_MORE: RateLimitRequest = { changes: false, wanted: 0, unused: null }

/**
 * Time after a write for which the caller's reads use the primary database instead of a replica, in
 * milliseconds. The time of the write is only in memory, where Cloudflare keeps an idle object for
 * at least ten seconds.
 */
const CHANGE_MS = 10_000

const WINDOW_MS = RATE_LIMIT_WINDOW_SECONDS * 1000
const WINDOW = "window"

/** Number of requests in the current window of a minute, and the end of the window. */
type Window = { endsAt: number; used: number }

/**
 * Rate limiter of one API key, named by the key's hash, or of one user. The limiter caches the key,
 * counts its requests by minute and day, and holds the leases of its uploads. The limiter decides
 * from memory and writes the counts to storage some seconds later, so that the window survives an
 * eviction of the object. After an eviction, open uploads register again with their next renewal.
 */
export class RateLimiter extends DurableObject<Env> implements RateLimiterRpc {
  #known: { caller: Caller; since: number } | null = null
  #lookUp: Promise<Caller | null> | null = null
  #timesForgotten = 0
  #window: Window
  /**
   * Numbers of requests by day that are not written yet, and the time of the last counted request.
   */
  #unwritten = new Map<string, number>()
  #lastUse: { caller: Caller; at: number } | null = null
  #isWriteDue = false
  /** Time of the last request of the API key or user that may have written to the database. */
  #changedAt = 0
  /** Callbacks that `forget` calls to end the waits of `untilForgotten` for a change of the key. */
  readonly #watchers = new Set<() => void>()
  /** Expiry times of the leases of open uploads, by upload. */
  readonly #uploads = new Map<string, number>()

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.#window = state.storage.kv.get<Window>(WINDOW) ?? { endsAt: 0, used: 0 }
  }

  async take(
    hash: string,
    { changes, wanted, unused }: RateLimitRequest = NOTHING_MORE,
  ): Promise<PrefetchGrant | null> {
    if (unused) await this.giveBack(unused)
    const caller = await this.#callerOf(hash)
    if (!caller) return null
    const allowance = this.#take(caller, changes)
    const grantedAt = Date.now()
    const moreMs = this.#grantableMs(caller, grantedAt)
    const isPlenty = allowance.remaining >= wanted * PLENTY && moreMs > 0
    const more = allowance.allowed && isPlenty ? wanted : 0
    this.#window.used += more
    if (more > 0) this.#countOf(grantedAt, more)
    const remaining = allowance.remaining - more
    return { ...allowance, remaining, more, moreMs, grantedAt, windowEndsAt: this.#window.endsAt }
  }

  async giveBack({ count, grantedAt }: UnusedPrefetchedRequests): Promise<void> {
    const beganAt = this.#window.endsAt - WINDOW_MS
    if (grantedAt >= beganAt) this.#window.used = Math.max(0, this.#window.used - count)
    this.#countOf(grantedAt, -count)
    this.#writeLater()
  }

  async takeFor(
    caller: Caller,
    { changes }: Pick<RateLimitRequest, "changes"> = NOTHING_MORE,
  ): Promise<RateLimitResult> {
    return this.#take(caller, changes)
  }

  async noteChange(): Promise<void> {
    this.#changedAt = Date.now()
  }

  #take(caller: Caller, changes: boolean): RateLimitResult {
    const now = Date.now()
    if (changes) this.#changedAt = now
    const limit = computeEffectiveLimits(caller.account, getSettings(this.env)).requestsPerMinute
    const leftMs = this.#window.endsAt - now
    // Begin a new window also if the present one ends later than a whole window from now. The clock
    // was then set back after the window began.
    if (leftMs <= 0 || leftMs > WINDOW_MS) this.#window = { endsAt: now + WINDOW_MS, used: 0 }
    const allowed = this.#window.used < limit
    if (allowed) this.#count(caller, now)
    const resetSeconds = Math.ceil((this.#window.endsAt - now) / 1000)
    const remaining = Math.max(0, limit - this.#window.used)
    const hasChanged = now - this.#changedAt < CHANGE_MS
    return { caller, limit, allowed, remaining, resetSeconds, hasChanged }
  }

  async isValid(hash: string): Promise<boolean> {
    const caller = await this.#callerOf(hash)
    return caller !== null && !caller.account.isSuspended
  }

  async beginUpload(uploadId: string): Promise<boolean> {
    const now = Date.now()
    for (const [id, until] of this.#uploads) if (until <= now) this.#uploads.delete(id)
    if (this.#uploads.size >= CONCURRENT_UPLOADS_MAX) return false
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
    for (const tell of this.#watchers) tell()
  }

  async untilForgotten(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const expiresAt = this.#known?.caller.key?.expiresAt ?? Infinity
    const timer = setTimeout(resolve, Math.min(timeoutMs, expiresAt - Date.now()))
    this.#watchers.add(resolve)
    await promise
    this.#watchers.delete(resolve)
    clearTimeout(timer)
  }

  /**
   * Returns the time for which requests are granted in advance, in milliseconds: at most the time
   * for which the API key stays cached.
   */
  #grantableMs({ key }: Caller, now: number): number {
    const knownUntil = (this.#known?.since ?? 0) + KNOWN_MS
    const until = Math.min(knownUntil, key?.expiresAt ?? Infinity, this.#window.endsAt)
    return Math.min(KNOWN_MS, Math.max(0, until - now))
  }

  #countOf(at: number, requests: number): void {
    const day = formatUtcDay(at)
    this.#unwritten.set(day, (this.#unwritten.get(day) ?? 0) + requests)
  }

  #count(caller: Caller, now: number): void {
    this.#window.used += 1
    this.#countOf(now, 1)
    this.#lastUse = { caller, at: now }
    this.#writeLater()
  }

  #writeLater(): void {
    // Use a timer instead of a Durable Object alarm: setting an alarm costs a write, and the alarm
    // would wake an evicted object that has no counts to write.
    if (this.#isWriteDue) return
    this.#isWriteDue = true
    setTimeout(() => this.ctx.waitUntil(this.#write()), WRITE_AFTER_MS)
  }

  /** Writes the new counts. Counts that could not be written are written with the next counts. */
  async #write(): Promise<void> {
    const byDay = this.#unwritten
    this.#unwritten = new Map()
    this.#isWriteDue = false
    try {
      // Responses do not wait until storage confirms this write.
      await this.ctx.storage.put(WINDOW, this.#window, { allowUnconfirmed: true })
      await this.#writeCounts(byDay)
    } catch (error) {
      logError("requests.not_counted", { error: String(error) })
      for (const [day, count] of byDay) {
        this.#unwritten.set(day, (this.#unwritten.get(day) ?? 0) + count)
      }
      this.#writeLater()
    }
  }

  async #writeCounts(byDay: ReadonlyMap<string, number>): Promise<void> {
    if (!this.#lastUse) return
    const { caller, at: lastUsedAt } = this.#lastUse
    const accountId = caller.account.id
    const counts = { accountId, keyId: caller.key?.id ?? null, lastUsedAt, byDay }
    await addRequestCountsToUsage(openAccountDatabases(this.env, accountId), counts)
  }

  async #callerOf(hash: string): Promise<Caller | null> {
    const caller = await this.#knownOf(hash)
    const expiresAt = caller?.key?.expiresAt ?? null
    return expiresAt !== null && expiresAt <= Date.now() ? null : caller
  }

  async #knownOf(hash: string): Promise<Caller | null> {
    const cache = this.#known
    const ageMs = cache ? Date.now() - cache.since : KNOWN_MS
    if (!cache || ageMs < 0 || ageMs >= KNOWN_MS) return await this.#find(hash)
    if (ageMs >= FRESH_MS) this.ctx.waitUntil(this.#find(hash).catch(() => null))
    return cache.caller
  }

  /** Reads the API key from the database. Concurrent requests share one read. */
  async #find(hash: string): Promise<Caller | null> {
    this.#lookUp ??= this.#findAnew(hash).finally(() => {
      this.#lookUp = null
    })
    return await this.#lookUp
  }

  /**
   * Reads the key from the database. If `forget` was called during the read, the result may be
   * outdated, so the read is repeated.
   */
  async #findAnew(hash: string): Promise<Caller | null> {
    for (;;) {
      const [since, timesForgotten] = [Date.now(), this.#timesForgotten]
      const caller = await findValidApiKey(openDirectory(this.env), hash, since)
      if (timesForgotten !== this.#timesForgotten) continue
      this.#known = caller && { caller, since }
      return caller
    }
  }
}
