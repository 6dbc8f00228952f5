import { WORKSPACE_BYTES_MIN } from "../contract/protocol.ts"
import { runnerHealthSchema } from "../contract/runner-health.ts"
import type { DegradedReason } from "../contract/runner-health.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { logError } from "../platform/log.ts"
import { getPoolObject } from "../bindings/durable-objects.ts"
import { usesPlainRunner, readPlainRunnerHealth } from "../runner/client.ts"
import { POOLS } from "../bindings/pools.ts"
import { findDatabaseDegradedReasons } from "./database-size.ts"
import { readStorageDiskSpace } from "../bindings/storage-disk.ts"

/**
 * Time for which the health is cached, in milliseconds. Without the cache, each health request
 * would call the runners.
 */
const FRESH_MS = { ok: 1000, degraded: 100 }

type CachedHealth = { at: number; reasons: DegradedReason[] }

/**
 * Cached health of each environment. The cache holds values and no promises, because in workerd a
 * request cannot await a promise of another request.
 */
const cache = new WeakMap<object, CachedHealth>()

/**
 * Returns the reasons why the service is degraded now. Returns an empty list if the service is not
 * degraded.
 */
export async function findServiceDegradedReasons(env: Env): Promise<DegradedReason[]> {
  const now = Date.now()
  const last = cache.get(env)
  const freshMs = last && last.reasons.length > 0 ? FRESH_MS.degraded : FRESH_MS.ok
  if (last && Math.abs(now - last.at) < freshMs) return last.reasons
  const runners = usesPlainRunner(env) ? judgePlain(env) : judgePools(env)
  const reasons = (
    await Promise.all([findDatabaseDegradedReasons(env), judgeDisk(env), runners])
  ).flat()
  cache.set(env, { at: Date.now(), reasons })
  return reasons
}

/**
 * Returns `disk_full` if the free disk space minus the reserve DISK_RESERVE_BYTES is too small for
 * any task with outputs, else an empty list. Uploads never use the reserve.
 */
async function judgeDisk(env: Env): Promise<DegradedReason[]> {
  const disk = await readStorageDiskSpace(env)
  const leastBytes = getSettings(env).DISK_RESERVE_BYTES + WORKSPACE_BYTES_MIN
  return disk && disk.freeBytes < leastBytes ? ["disk_full"] : []
}

async function judgePlain(env: Env): Promise<DegradedReason[]> {
  const health = runnerHealthSchema.safeParse(await readPlainRunnerHealth(env)).data
  if (!health) return ["runner_unreachable"]
  return [
    ...(health.sandbox.ok ? [] : ["sandbox_failed" as const]),
    ...(health.ytdlp_update?.state === "failed" ? ["ytdlp_update_failed" as const] : []),
  ]
}

async function judgePools(env: Env): Promise<DegradedReason[]> {
  const pools = Object.keys(POOLS).map((pool) => getPoolObject(env, pool).degradedReasons())
  const answers = await Promise.allSettled(pools)
  for (const answer of answers) {
    if (answer.status === "rejected") logError("health.failed", { error: String(answer.reason) })
  }
  const reasons = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
  return [...new Set(reasons)]
}
