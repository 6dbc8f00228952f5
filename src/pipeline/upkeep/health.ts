import { WORKSPACE_BYTES_MIN } from "../../contract/protocol.ts"
import { runnerHealth } from "../../contract/runner-health.ts"
import type { DegradedReason } from "../../contract/runner-health.ts"
import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import { poolObjectOf } from "../../placement.ts"
import { isPlain, readPlainHealth } from "../../runner/client.ts"
import { POOLS } from "../../runner/pools.ts"
import { judgeDatabase } from "./database-size.ts"
import { readStateDisk } from "../../storage/state-disk.ts"

/** Anybody may read the health, and runners are not asked for each reader. */
const FRESH_MS = { ok: 1000, degraded: 100 }

type Known = { at: number; reasons: DegradedReason[] }

/** Values only: workerd lets no request wait for a promise of another. */
const known = new WeakMap<object, Known>()

/** Why tasks are not done as they should be, by codes; empty where all is well. */
export async function findDegradedReasons(env: Env): Promise<DegradedReason[]> {
  const now = Date.now()
  const last = known.get(env)
  const freshMs = last && last.reasons.length > 0 ? FRESH_MS.degraded : FRESH_MS.ok
  if (last && Math.abs(now - last.at) < freshMs) return last.reasons
  const runners = isPlain(env) ? judgePlain(env) : judgePools(env)
  const reasons = (await Promise.all([judgeDatabase(env), judgeDisk(env), runners])).flat()
  known.set(env, { at: Date.now(), reasons })
  return reasons
}

/**
 * Uploads are refused before they touch the reserve, so a disk counts as full where it has less above
 * that than any task that stores outputs needs.
 */
async function judgeDisk(env: Env): Promise<DegradedReason[]> {
  const disk = await readStateDisk(env)
  const leastBytes = settingsOf(env).DISK_RESERVE_BYTES + WORKSPACE_BYTES_MIN
  return disk && disk.freeBytes < leastBytes ? ["disk_full"] : []
}

async function judgePlain(env: Env): Promise<DegradedReason[]> {
  const health = runnerHealth.safeParse(await readPlainHealth(env)).data
  if (!health) return ["runner_unreachable"]
  return [
    ...(health.sandbox.ok ? [] : ["sandbox_failed" as const]),
    ...(health.ytdlp_update?.state === "failed" ? ["ytdlp_update_failed" as const] : []),
  ]
}

async function judgePools(env: Env): Promise<DegradedReason[]> {
  const pools = Object.keys(POOLS).map((pool) => poolObjectOf(env, pool).degradedReasons())
  const answers = await Promise.allSettled(pools)
  for (const answer of answers) {
    if (answer.status === "rejected") logError("health.failed", { error: String(answer.reason) })
  }
  const reasons = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
  return [...new Set(reasons)]
}
