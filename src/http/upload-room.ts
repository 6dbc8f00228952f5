import { readStoredBytes } from "../storage/account-limits.ts"
import { findIdempotency } from "../storage/idempotency.ts"
import { limitProblem } from "./limit-problem.ts"
import { ENVELOPE_BYTES_MAX } from "./multipart.ts"
import { readIdempotencyKey } from "./request.ts"
import type { AppContext } from "./request.ts"

/** To store and remove such a body takes no longer than to look first, as most uploads would for nothing. */
const SMALL_BYTES_MAX = 256 * 1024

/**
 * Refuses an upload whose account stores too much for it, as far as its announced length tells, before
 * its bytes are received; its create decides, and alone where the length is small. One that may repeat
 * an earlier create is received, since its bytes tell whether it does.
 */
export async function requireStorageRoom(c: AppContext): Promise<void> {
  const { storageBytesMax: allowed } = c.get("limits")
  const announced = c.req.header("content-length")
  if (announced !== undefined && Number(announced) <= SMALL_BYTES_MAX) return
  const asked = Math.max(0, Number(announced ?? 0) - ENVELOPE_BYTES_MAX)
  const key = readIdempotencyKey(c)
  const database = c.get("database")
  const used = await readStoredBytes(database)
  if (used + Math.max(1, asked) <= allowed) return
  if (key !== null && (await findIdempotency(database, key, Date.now()))) return
  throw limitProblem({ limit: "storage_bytes", allowed, used, asked })
}
