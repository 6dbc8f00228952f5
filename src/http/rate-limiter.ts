import { DurableObject } from "cloudflare:workers"
import { limitsOf, settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { logError } from "../log.ts"
import type { Allowance, Caller, Granted, RateLimiterRpc, Taking, Unused } from "../rpc.ts"
import { dayOf } from "../storage/account-limits.ts"
import { databaseOf, directoryOf } from "../storage/database.ts"
import { findKey } from "../storage/keys.ts"
import { countRequests } from "../storage/request-counts.ts"
import { WINDOW_SECONDS } from "./rate-limit.ts"
import { UPLOAD_LEASE_MS, UPLOADS_MAX } from "./upload-places.ts"

/**
 * A key counts without a look-up for so long. `forget` is called for one that is revoked or has
 * another plan; should that call be lost, this bounds for how long the old answer counts.
 */
const KNOWN_MS = 1_000
/** Known for so long, a key is looked up beside the request, so that busy keys never wait for it. */
const FRESH_MS = 500

/**
 * Counts are written so long after the first of them: a process that dies loses no more. An object
 * that is idle is removed from memory after ten seconds at the earliest, so that this comes first.
 */
const WRITE_AFTER_MS = 5_000

/** Requests are granted ahead only while so many times as many remain, so that the limit is exact. */
const PLENTY = 4
const NOTHING_MORE: Taking = { changes: false, wanted: 0, unused: null }

/** Who changed something reads the primary for so long; an idle object forgets it no earlier. */
const CHANGE_MS = 10_000

const WINDOW_MS = WINDOW_SECONDS * 1000
const WINDOW = "window"

/** The requests of a window of a minute. */
type Window = { endsAt: number; used: number }

/**
 * Knows one key, by its hash, counts its requests in windows of a minute and by day, and holds the
 * leases of its uploads. It decides from memory alone; what it counted is stored a moment later, so
 * that an object that leaves memory comes back with the minute that it had begun. Uploads that go
 * on are counted again as they are renewed.
 */
export class RateLimiter extends DurableObject<Env> implements RateLimiterRpc {
  #known: { caller: Caller; since: number } | null = null
  #lookUp: Promise<Caller | null> | null = null
  #timesForgotten = 0
  #window: Window
  /** Requests by day that are not written yet, and the last one. */
  #unwritten = new Map<string, number>()
  #lastUse: { caller: Caller; at: number } | null = null
  #isWriteDue = false
  /** When the caller may have changed something for the last time. */
  #changedAt = 0
  /** Those who wait for the key to be forgotten. */
  readonly #watchers = new Set<() => void>()
  /** When the lease of each upload ends. */
  readonly #uploads = new Map<string, number>()

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.#window = state.storage.kv.get<Window>(WINDOW) ?? { endsAt: 0, used: 0 }
  }

  async take(
    hash: string,
    { changes, wanted, unused }: Taking = NOTHING_MORE,
  ): Promise<Granted | null> {
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

  async giveBack({ count, grantedAt }: Unused): Promise<void> {
    const beganAt = this.#window.endsAt - WINDOW_MS
    if (grantedAt >= beganAt) this.#window.used = Math.max(0, this.#window.used - count)
    this.#countOf(grantedAt, -count)
    this.#writeLater()
  }

  async takeFor(
    caller: Caller,
    { changes }: Pick<Taking, "changes"> = NOTHING_MORE,
  ): Promise<Allowance> {
    return this.#take(caller, changes)
  }

  async noteChange(): Promise<void> {
    this.#changedAt = Date.now()
  }

  #take(caller: Caller, changes: boolean): Allowance {
    const now = Date.now()
    if (changes) this.#changedAt = now
    const limit = limitsOf(caller.account, settingsOf(this.env)).requestsPerMinute
    const leftMs = this.#window.endsAt - now
    // A window that ends later than it can was begun by a clock that was set back since.
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

  /** For how long others may be let through: a key as long as what is known of it counts. */
  #grantableMs({ key }: Caller, now: number): number {
    const knownUntil = (this.#known?.since ?? 0) + KNOWN_MS
    const until = Math.min(knownUntil, key?.expiresAt ?? Infinity, this.#window.endsAt)
    return Math.min(KNOWN_MS, Math.max(0, until - now))
  }

  #countOf(at: number, requests: number): void {
    const day = dayOf(at)
    this.#unwritten.set(day, (this.#unwritten.get(day) ?? 0) + requests)
  }

  #count(caller: Caller, now: number): void {
    this.#window.used += 1
    this.#countOf(now, 1)
    this.#lastUse = { caller, at: now }
    this.#writeLater()
  }

  #writeLater(): void {
    // No alarm: one would be a write of its own, and wake an object that has nothing to write.
    if (this.#isWriteDue) return
    this.#isWriteDue = true
    setTimeout(() => this.ctx.waitUntil(this.#write()), WRITE_AFTER_MS)
  }

  /** Writes what was counted since; what cannot be written is tried again with what follows. */
  async #write(): Promise<void> {
    const byDay = this.#unwritten
    this.#unwritten = new Map()
    this.#isWriteDue = false
    try {
      // Answers do not wait for it.
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
    await countRequests(databaseOf(this.env, accountId), counts)
  }

  async #callerOf(hash: string): Promise<Caller | null> {
    const caller = await this.#knownOf(hash)
    const expiresAt = caller?.key?.expiresAt ?? null
    return expiresAt !== null && expiresAt <= Date.now() ? null : caller
  }

  async #knownOf(hash: string): Promise<Caller | null> {
    const known = this.#known
    const ageMs = known ? Date.now() - known.since : KNOWN_MS
    if (!known || ageMs < 0 || ageMs >= KNOWN_MS) return await this.#find(hash)
    if (ageMs >= FRESH_MS) this.ctx.waitUntil(this.#find(hash).catch(() => null))
    return known.caller
  }

  /** Looks the key up, once for all who ask meanwhile. */
  async #find(hash: string): Promise<Caller | null> {
    this.#lookUp ??= this.#findAnew(hash).finally(() => {
      this.#lookUp = null
    })
    return await this.#lookUp
  }

  /** An answer that was under way while the key was forgotten may be the old one. */
  async #findAnew(hash: string): Promise<Caller | null> {
    for (;;) {
      const [since, timesForgotten] = [Date.now(), this.#timesForgotten]
      const caller = await findKey(directoryOf(this.env), hash, since)
      if (timesForgotten !== this.#timesForgotten) continue
      this.#known = caller && { caller, since }
      return caller
    }
  }
}
