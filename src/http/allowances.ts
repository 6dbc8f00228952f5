import { limiterOf } from "../placement.ts"
import { findHeld, hold, momentOfHolding } from "../pipeline/accounts/held-requests.ts"
import type { Held } from "../pipeline/accounts/held-requests.ts"
import { remember } from "../recent.ts"
import type { Allowance, Taking, Unused } from "../rpc.ts"
import type { AppContext } from "./request.ts"

// A key that asks often asks its object only now and then: this grants some requests ahead, for as
// long as what it knows of the key counts, which is a second at most.

const KEYS_MAX = 10_000
const SECOND_MS = 1000
/** A key that made so many requests within a second is granted some ahead. */
const BUSY_MIN = 20
const WANTED = 32

type Rate = { since: number; count: number; before: number }
const rates = remember<Rate>(KEYS_MAX)

/** Takes one request from the allowance of a key, by its hash; null where no such key is valid. */
export async function takeAllowance(c: AppContext, hash: string): Promise<Allowance | null> {
  const isBusy = countRequest(hash)
  const changes = mayChange(c)
  const taken = takeHeld(hash)
  if (!taken) return await askFor(c, hash, { changes, wanted: isBusy ? WANTED : 0 })
  if (changes && !taken.hasChanged) noteChange(c, hash)
  return taken
}

/** Whether a request is one that may change something. */
export function mayChange({ req: { method } }: AppContext): boolean {
  return method !== "GET" && method !== "HEAD"
}

/** Tells the object once; what it grants next says it of itself. */
function noteChange(c: AppContext, hash: string): void {
  const held = findHeld(hash)
  if (held) held.granted.hasChanged = true
  c.executionCtx.waitUntil(limiterOf(c.env, hash).noteChange())
}

async function askFor(
  c: AppContext,
  hash: string,
  more: Omit<Taking, "unused">,
): Promise<Allowance | null> {
  const unused = takeUnused(findHeld(hash))
  const asked = { at: Date.now(), moment: momentOfHolding() }
  const granted = await limiterOf(c.env, hash).take(hash, { ...more, unused })
  if (!granted) return null
  // Another request was granted some meanwhile.
  if (!granted.allowed) return takeHeld(hash) ?? granted
  if (granted.more === 0) return granted
  const held = hold(hash, granted, asked)
  c.executionCtx.waitUntil(
    held
      ? giveBackLater(c, hash, granted.moreMs)
      : limiterOf(c.env, hash).giveBack({ count: granted.more, grantedAt: granted.grantedAt }),
  )
  return { ...granted, remaining: granted.remaining + (held?.left ?? granted.more) }
}

function takeHeld(hash: string): Allowance | null {
  const held = findHeld(hash)
  const now = Date.now()
  if (!held || held.left <= 0 || held.until <= now) return null
  held.left -= 1
  const { granted } = held
  const resetSeconds = Math.max(0, Math.ceil((granted.windowEndsAt - now) / SECOND_MS))
  return { ...granted, remaining: granted.remaining + held.left, resetSeconds }
}

/** What is left of answers that do not count any more, which is to be given back. */
function takeUnused(held: Held | null): Unused | null {
  if (!held || held.left <= 0 || held.until > Date.now()) return null
  const unused = { count: held.left, grantedAt: held.granted.grantedAt }
  held.left = 0
  return unused
}

/** Where nobody asks again, what is left goes back by itself. */
async function giveBackLater(c: AppContext, hash: string, afterMs: number): Promise<void> {
  await scheduler.wait(afterMs + 1)
  const unused = takeUnused(findHeld(hash))
  if (unused) await limiterOf(c.env, hash).giveBack(unused)
}

/** Counts a request, and says whether the key makes many. */
function countRequest(hash: string): boolean {
  const now = Date.now()
  const known = rates.get(hash)
  const ageMs = known ? now - known.since : Infinity
  if (!known || ageMs < 0 || ageMs >= 2 * SECOND_MS) {
    rates.set(hash, { since: now, count: 1, before: 0 }, now + 2 * SECOND_MS)
    return false
  }
  if (ageMs >= SECOND_MS) {
    const next = { since: known.since + SECOND_MS, count: 1, before: known.count }
    rates.set(hash, next, next.since + 2 * SECOND_MS)
    return next.before >= BUSY_MIN
  }
  known.count += 1
  return known.count >= BUSY_MIN || known.before >= BUSY_MIN
}
