import { readStoredBytes } from "../storage/account-limits.ts"
import { findIdempotency } from "../storage/idempotency.ts"
import { limitProblem } from "./limit-problem.ts"
import { ENVELOPE_BYTES_MAX } from "./multipart.ts"
import { readIdempotencyKey } from "./request.ts"
import type { AppContext } from "./request.ts"

/**
 * Refuses an upload whose account stores too much for it, as far as its announced length tells, before
 * its bytes are received; its create decides. One that may repeat an earlier create is received, since
 * its bytes tell whether it does.
 */
export async function requireStorageRoom(c: AppContext): Promise<void> {
  const { storageBytesMax: allowed } = c.get("limits")
  const announced = Number(c.req.header("content-length") ?? 0)
  const asked = Math.max(0, announced - ENVELOPE_BYTES_MAX)
  const key = readIdempotencyKey(c)
  const database = c.get("database")
  const used = await readStoredBytes(database)
  if (used + Math.max(1, asked) <= allowed) return
  if (key !== null && (await findIdempotency(database, key, Date.now()))) return
  throw limitProblem({ limit: "storage_bytes", allowed, used, asked })
}
