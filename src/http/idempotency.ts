import { toHex } from "../contract/hex.ts"
import type { AppContext } from "./context.ts"
import { Problem, unprocessables } from "./problem.ts"
import type { Detail } from "./problem.ts"

const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

/** What makes a create safe to send again: the caller's key, and the hash of what was asked. */
export type Idempotency = { accountId: string; key: string; bodyHash: string }

/** What is wrong with the key of a create. */
export function idempotencyKeyFaults(c: AppContext): Detail[] {
  const key = c.req.header("idempotency-key")
  if (key === undefined || KEY_PATTERN.test(key)) return []
  return [{ field: "Idempotency-Key", message: "expected 1 to 255 visible ASCII characters" }]
}

/** The key of a create that may be sent again; null where the caller gave none. */
export function readIdempotencyKey(c: AppContext): string | null {
  const faults = idempotencyKeyFaults(c)
  if (faults.length > 0) throw unprocessables(faults)
  return c.req.header("idempotency-key") ?? null
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
