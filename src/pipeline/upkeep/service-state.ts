import { runnerHealth } from "../../contract/runner-health.ts"
import type { DegradedReason, RunnerHealth } from "../../contract/runner-health.ts"
import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import { poolObjectOf } from "../../placement.ts"
import type { HealthPath } from "../../rpc.ts"
import { isPlain, readPlainHealth } from "../../runner/client.ts"
import { POOLS } from "../../runner/pools.ts"
import { databasesOf, directoryOf } from "../../storage/database.ts"
import { countDeadLetters } from "../../storage/dead-letters.ts"
import {
  countDeliveries,
  countOpenJobs,
  countOpenTasks,
  databaseBytes,
  sumStorage,
} from "../../storage/service-counts.ts"
import type { OpenCount } from "../../storage/service-counts.ts"
import { readStateDisk } from "../../storage/state-disk.ts"
import type { StateDisk } from "../../storage/state-disk.ts"
import { findDegradedReasons } from "./health.ts"

const DAY_MS = 24 * 3_600_000

/** A pool of runners: its slots, how many are given to accounts, and how many accounts want more. */
export type PoolState = { name: string; slots: number; used: number; waitingAccounts: number }

/** How the service is at a moment, for its operator. */
export type ServiceState = {
  reasons: DegradedReason[]
  /** The plain runner; `unreachable` where it does not answer, null where runners are containers. */
  runner: RunnerHealth | "unreachable" | null
  /** Null for one that did not answer. */
  pools: (PoolState | { name: string; slots: null })[]
  jobs: OpenCount[]
  tasks: OpenCount[]
  /** Webhooks that wait, are due, and were given up in the last day. */
  deliveries: { waiting: number; due: number; failed: number }
  storage: { bytes: number; accounts: number }
  databaseBytes: number | null
  disk: StateDisk | null
  deadLetters: number
}

/** Reads how the service is; what cannot be told of a runner or a pool is left open. */
export async function readServiceState(
  env: Env,
  healthPath: HealthPath = "/health",
): Promise<ServiceState> {
  const all = databasesOf(env)
  const now = Date.now()
  const [reasons, runner, pools, jobs, tasks, deliveries, storage, bytes, disk, deadLetters] =
    await Promise.all([
      findDegradedReasons(env),
      readRunner(env, healthPath),
      Promise.all(Object.keys(POOLS).map(async (name) => await readPool(env, name))),
      Promise.all(all.map(countOpenJobs)),
      Promise.all(all.map(countOpenTasks)),
      Promise.all(all.map((each) => countDeliveries(each, { now, since: now - DAY_MS }))),
      Promise.all(all.map(sumStorage)),
      databaseBytes(env),
      readStateDisk(env),
      countDeadLetters(directoryOf(env)),
    ])
  const counts = {
    jobs: addOpen(jobs.flat()),
    tasks: addOpen(tasks.flat()),
    deliveries: addDeliveries(deliveries),
    storage: addStorage(storage),
    databaseBytes: bytes,
    deadLetters,
  }
  return { reasons, runner, pools, disk, ...counts }
}

/** The counts of all databases together, one of each name and state. */
function addOpen(counts: OpenCount[]): OpenCount[] {
  const groups = Map.groupBy(counts, ({ name, state }) => `${state} ${name}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const oldestAt = Math.min(...group.map((each) => each.oldestAt))
    return [{ ...first, count: group.reduce((sum, each) => sum + each.count, 0), oldestAt }]
  })
}

function addDeliveries(counts: ServiceState["deliveries"][]): ServiceState["deliveries"] {
  return counts.reduce((sum, each) => ({
    waiting: sum.waiting + each.waiting,
    due: sum.due + each.due,
    failed: sum.failed + each.failed,
  }))
}

function addStorage(sums: ServiceState["storage"][]): ServiceState["storage"] {
  return sums.reduce((sum, each) => ({
    bytes: sum.bytes + each.bytes,
    accounts: sum.accounts + each.accounts,
  }))
}

async function readRunner(env: Env, healthPath: HealthPath): Promise<ServiceState["runner"]> {
  if (!isPlain(env)) return null
  return runnerHealth.safeParse(await readPlainHealth(env, healthPath)).data ?? "unreachable"
}

async function readPool(env: Env, name: string): Promise<ServiceState["pools"][number]> {
  try {
    return { name, ...(await poolObjectOf(env, name).usage(name)) }
  } catch (error) {
    logError("health.pool_lost", { pool: name, error })
    return { name, slots: null }
  }
}
