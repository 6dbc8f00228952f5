import { runnerHealthSchema } from "../contract/runner-health.ts"
import type { DegradedReason, RunnerHealth } from "../contract/runner-health.ts"
import type { Env } from "../bindings/env.ts"
import { logError } from "../platform/log.ts"
import { getPoolObject } from "../bindings/durable-objects.ts"
import type { RunnerHealthPath } from "../bindings/rpc.ts"
import { usesPlainRunner, readPlainRunnerHealth } from "../runner/client.ts"
import { POOLS } from "../bindings/pools.ts"
import { openAllDatabases, openDirectory } from "../db/database.ts"
import { countDeadLetters } from "../db/dead-letters.ts"
import {
  countDeliveries,
  countOpenJobs,
  countOpenTasks,
  readLargestDatabaseBytes,
  sumStoredBytes,
} from "../db/service-counts.ts"
import type { OpenJobOrTaskCount } from "../db/service-counts.ts"
import { readStorageDiskSpace } from "../bindings/storage-disk.ts"
import type { StorageDiskSpace } from "../bindings/storage-disk.ts"
import { findServiceDegradedReasons } from "./health.ts"

const DAY_MS = 24 * 3_600_000

/**
 * Usage of a pool of runners: the numbers of its slots, of its allocated slots, and of accounts
 * that wait for a slot.
 */
export type PoolUsage = { name: string; slots: number; used: number; waitingAccounts: number }

/** Health and load of the service at one time, which the operator's pages show. */
export type ServiceState = {
  reasons: DegradedReason[]
  /**
   * Health of the plain runner. `unreachable` means that the runner does not respond, and null
   * means that runners are containers.
   */
  runner: RunnerHealth | "unreachable" | null
  /** Usage of each pool. `slots` is null for a pool that did not respond. */
  pools: (PoolUsage | { name: string; slots: null })[]
  jobs: OpenJobOrTaskCount[]
  tasks: OpenJobOrTaskCount[]
  /** Numbers of webhooks that wait, that are due, and that failed within the last day. */
  deliveries: { waiting: number; due: number; failed: number }
  storage: { bytes: number; accounts: number }
  databaseBytes: number | null
  disk: StorageDiskSpace | null
  deadLetters: number
}

/** Reads the state of the service. Does not fail if the runner or a pool does not respond. */
export async function readServiceState(
  env: Env,
  healthPath: RunnerHealthPath = "/health",
): Promise<ServiceState> {
  const all = openAllDatabases(env)
  const now = Date.now()
  const [reasons, runner, pools, jobs, tasks, deliveries, storage, bytes, disk, deadLetters] =
    await Promise.all([
      findServiceDegradedReasons(env),
      readRunner(env, healthPath),
      Promise.all(Object.keys(POOLS).map(async (name) => await readPool(env, name))),
      Promise.all(all.map(countOpenJobs)),
      Promise.all(all.map(countOpenTasks)),
      Promise.all(all.map((each) => countDeliveries(each, { now, since: now - DAY_MS }))),
      Promise.all(all.map(sumStoredBytes)),
      readLargestDatabaseBytes(env),
      readStorageDiskSpace(env),
      countDeadLetters(openDirectory(env)),
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

/** Adds up the job or task counts of all databases, by kind or pool (`name`) and state. */
function addOpen(counts: OpenJobOrTaskCount[]): OpenJobOrTaskCount[] {
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

async function readRunner(env: Env, healthPath: RunnerHealthPath): Promise<ServiceState["runner"]> {
  if (!usesPlainRunner(env)) return null
  return (
    runnerHealthSchema.safeParse(await readPlainRunnerHealth(env, healthPath)).data ?? "unreachable"
  )
}

async function readPool(env: Env, name: string): Promise<ServiceState["pools"][number]> {
  try {
    return { name, ...(await getPoolObject(env, name).usage(name)) }
  } catch (error) {
    logError("health.pool_lost", { pool: name, error })
    return { name, slots: null }
  }
}
