import type { DegradedReason } from "../../contract/runner-health.ts"
import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { log } from "../../log.ts"
import { databaseBytes } from "../../storage/service-counts.ts"

/** Share of what a database takes from which on its operator is told: there is time to act. */
const FILLING_SHARE = 0.8
/** A database grows slowly, and anybody may read the health. */
const FRESH_MS = 60_000

const known = new WeakMap<object, { at: number; bytes: number | null }>()

/** Whether the database has come near to what D1 takes. */
export async function judgeDatabase(env: Env): Promise<DegradedReason[]> {
  const now = Date.now()
  const last = known.get(env)
  const isFresh = last !== undefined && Math.abs(now - last.at) < FRESH_MS
  const bytes = isFresh ? last.bytes : await databaseBytes(env).catch(() => null)
  if (!isFresh) known.set(env, { at: now, bytes })
  return isFilling(env, bytes) ? ["database_filling"] : []
}

/** Warns the operator by the log while the database is near to what D1 takes. */
export async function tellOfDatabase(env: Env): Promise<void> {
  const bytes = await databaseBytes(env)
  if (!isFilling(env, bytes)) return
  log("warn", "database.filling", { bytes, bytes_max: settingsOf(env).DATABASE_BYTES_MAX })
}

function isFilling(env: Env, bytes: number | null): boolean {
  return bytes !== null && bytes >= FILLING_SHARE * settingsOf(env).DATABASE_BYTES_MAX
}
