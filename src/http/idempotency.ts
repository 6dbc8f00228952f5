import { toHex } from "../contract/hex.ts"
import type { AppContext } from "./context.ts"
import { Problem, unprocessable } from "./problem.ts"

const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

/** What makes a create safe to send again: the caller's key, and the hash of what was asked. */
export type Idempotency = { accountId: string; key: string; bodyHash: string }

/** The key of a create that may be sent again; null where the caller gave none. */
export function readIdempotencyKey(c: AppContext): string | null {
  const key = c.req.header("idempotency-key")
  if (key === undefined) return null
  if (KEY_PATTERN.test(key)) return key
  throw unprocessable("Idempotency-Key", "expected 1 to 255 visible ASCII characters")
}

/** Ties a caller's key to what this request asks, whatever the order and spelling of its body. */
export async function readIdempotency(c: AppContext, asked: unknown): Promise<Idempotency | null> {
  const key = readIdempotencyKey(c)
  if (key === null) return null
  const text = JSON.stringify([c.req.method, c.req.path, asked])
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
  return { accountId: c.get("account").id, key, bodyHash: toHex(digest) }
}

/** Says that the answer is that of an earlier request with the same key. */
export function markReplayed(c: AppContext): void {
  c.header("idempotent-replayed", "true")
}

/** The refusal of a key that was used for something else. */
export function keyConflict(): Problem {
  const message = "This Idempotency-Key was used for another request; use a new one."
  return new Problem("idempotency_conflict", message)
}
