import { remember } from "../../recent.ts"
import type { Granted } from "../../rpc.ts"

/** What an object granted a key beyond the request that asked, as this isolate has it. */
export type Held = {
  granted: Granted
  /** Requests that may still be let through without asking. */
  left: number
  /** When that ends, in milliseconds since the epoch. */
  until: number
}

const KEYS_MAX = 10_000
/** Longer than anything is granted for. */
const KEPT_MS = 10_000

const held = remember<Held>(KEYS_MAX)
let timesForgotten = 0

/** What is held of a key, by its hash, whether it still counts or not. */
export function findHeld(hash: string): Held | null {
  return held.get(hash)
}

/** Tells a moment from one before which something was forgotten; answers of before are not held. */
export function momentOfHolding(): number {
  return timesForgotten
}

/**
 * Holds what was granted, beside what is left of earlier answers; null where something was forgotten
 * since the object was asked.
 */
export function hold(
  hash: string,
  granted: Granted,
  asked: { at: number; moment: number },
): Held | null {
  if (asked.moment !== timesForgotten) return null
  const until = asked.at + granted.moreMs
  const known = held.get(hash)
  const left = (known && known.until > Date.now() ? known.left : 0) + granted.more
  const made = { granted, left, until }
  held.set(hash, made, until + KEPT_MS)
  return made
}

/** Lets nothing more through for keys whose word is not the same any more. */
export function dropHeld(hashes: readonly string[]): void {
  timesForgotten += 1
  for (const hash of hashes) held.delete(hash)
}
