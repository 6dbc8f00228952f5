import { LIMITS } from "./plans.ts"
import type { Limits, Plan } from "./plans.ts"
import type { Retention } from "./retention.ts"
import type { DispatcherRpc, PoolRpc, RateLimiterRpc, RunnerRpc } from "./rpc.ts"
import type { PoolBinding } from "./runner/pools.ts"
import { settings } from "./settings.ts"
import type { SecretName, Settings } from "./settings.ts"

export type Env = Record<keyof Settings, string | undefined> &
  Partial<Record<SecretName, string>> &
  Record<PoolBinding, DurableObjectNamespace<RunnerRpc>> & {
    DB: D1Database
    MEDIA: R2Bucket
    JOBS: Queue<unknown>
    WEBHOOKS: Queue<unknown>
    DISPATCHER: DurableObjectNamespace<DispatcherRpc>
    POOL: DurableObjectNamespace<PoolRpc>
    RATE_LIMITER: DurableObjectNamespace<RateLimiterRpc>
    /** The way to a runner that is a plain process, where users' URLs take another one. */
    RUNNER?: Fetcher
    /** The way to the stores of S3_SOURCES, and to nothing else, where users' URLs take another one. */
    S3?: Fetcher
    /** Says how much room the disk of the state has, where that is a disk of this machine. */
    DISK?: Fetcher
  }

const DAY_MS = 24 * 3_600_000
/** A century: what is kept for ever still has a moment that can be written. */
const DAYS_MAX = 36_500

const parsed = new WeakMap<object, Settings>()

/** The settings of an environment, parsed once; throws a ZodError that names what is wrong. */
export function settingsOf(env: Env): Settings {
  const known = parsed.get(env)
  if (known) return known
  const made = settings.parse(env)
  parsed.set(env, made)
  return made
}

/** How long what was fetched is kept: no longer than its record. */
export function retentionOf(env: Env): Retention {
  const { FETCH_DAYS_MAX, JOB_DAYS_MAX } = settingsOf(env)
  const days = Math.min(FETCH_DAYS_MAX, JOB_DAYS_MAX, DAYS_MAX)
  return { now: Date.now(), fetchedMs: days * DAY_MS }
}

/** The limits of a plan, where the operator's settings do not replace them. */
export function limitsOf(plan: Plan, values: Settings): Limits {
  const prefix = plan === "trial" ? "TRIAL" : "PAID"
  const runSecondsMax = values[`${prefix}_RUN_SECONDS_MAX`] ?? LIMITS[plan].runSecondsMax
  return {
    fileBytesMax: values[`${prefix}_FILE_BYTES_MAX`] ?? LIMITS[plan].fileBytesMax,
    inputBytesMax: values[`${prefix}_INPUT_BYTES_MAX`] ?? LIMITS[plan].inputBytesMax,
    requestsPerMinute: values[`${prefix}_REQUESTS_PER_MINUTE`] ?? LIMITS[plan].requestsPerMinute,
    runningJobsMax: values[`${prefix}_RUNNING_JOBS_MAX`] ?? LIMITS[plan].runningJobsMax,
    runSecondsMax: Math.min(runSecondsMax, values.RUN_SECONDS_MAX),
    slotsShareMax: LIMITS[plan].slotsShareMax,
  }
}
