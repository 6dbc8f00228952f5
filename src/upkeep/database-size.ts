import type { DegradedReason } from "../contract/runner-health.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { log } from "../platform/log.ts"
import { readLargestDatabaseBytes } from "../db/service-counts.ts"

/**
 * Share of a database's maximum size from which the operator is warned. The share is low enough to
 * leave time to act.
 */
const FILLING_SHARE = 0.8
/**
 * Time for which a size is cached, in milliseconds. A cached size suffices because a database grows
 * slowly. The cache bounds the reads, because health requests need no key.
 */
const FRESH_MS = 60_000

const cache = new WeakMap<object, { at: number; bytes: number | null }>()

/** Returns `database_filling` if a database is close to its maximum size, else an empty list. */
export async function findDatabaseDegradedReasons(env: Env): Promise<DegradedReason[]> {
  const now = Date.now()
  const last = cache.get(env)
  const isFresh = last !== undefined && Math.abs(now - last.at) < FRESH_MS
  const bytes = isFresh ? last.bytes : await readLargestDatabaseBytes(env).catch(() => null)
  if (!isFresh) cache.set(env, { at: now, bytes })
  return isFilling(env, bytes) ? ["database_filling"] : []
}

/** Logs a warning for the operator while a database is close to its maximum size. */
export async function warnOfDatabaseSize(env: Env): Promise<void> {
  const bytes = await readLargestDatabaseBytes(env)
  if (!isFilling(env, bytes)) return
  log("warn", "database.filling", { bytes, bytes_max: getSettings(env).DATABASE_BYTES_MAX })
}

function isFilling(env: Env, bytes: number | null): boolean {
  return bytes !== null && bytes >= FILLING_SHARE * getSettings(env).DATABASE_BYTES_MAX
}
