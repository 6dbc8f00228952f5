import { DEFAULT_PLAN, isBuiltInPlan, LIMITS } from "./plans.ts"
import type { HeldPlan, Limits } from "./plans.ts"
import { hideSecrets, secretsInside } from "./contract/redact.ts"
import { readLogLevel } from "./contract/log-line.ts"
import { setLogLevel, setLogSampleRate } from "./log.ts"
import type { Retention } from "./retention.ts"
import type { DispatcherRpc, PoolRpc, RateLimiterRpc, RunnerRpc } from "./rpc.ts"
import type { PoolBinding } from "./runner/pools.ts"
import { secretNames, settings } from "./settings.ts"
import type { SecretName, Settings } from "./settings.ts"

export type Env = Record<keyof Settings, string | undefined> &
  Partial<Record<SecretName, string>> &
  Record<PoolBinding, DurableObjectNamespace<RunnerRpc>> & {
    /** The directory, which is the first of the databases; the others are DB_2, DB_3 and so on. */
    DB: D1Database
    [other: `DB_${number}`]: D1Database | undefined
    MEDIA: R2Bucket
    JOBS: Queue<unknown>
    WEBHOOKS: Queue<unknown>
    DISPATCHER: DurableObjectNamespace<DispatcherRpc>
    POOL: DurableObjectNamespace<PoolRpc>
    RATE_LIMITER: DurableObjectNamespace<RateLimiterRpc>
    /** Counts refused keys by the address that sent them. */
    REFUSED_KEYS: RateLimit
    /** The way to a runner that is a plain process, where users' URLs take another one. */
    RUNNER?: Fetcher
    /** The way to the stores of S3_SOURCES, and to nothing else, where users' URLs take another one. */
    S3?: Fetcher
    /** Takes mails where no provider sends them: on one machine they land in a folder. */
    MAILS?: Fetcher
    /** Counts what happens; on one machine /metrics does. */
    METRICS?: AnalyticsEngineDataset
    /** Says how much room the disk of the state has, where that is a disk of this machine. */
    DISK?: Fetcher
  }

const DAY_MS = 24 * 3_600_000
/** A century: what is kept for ever still has a moment that can be written. */
const DAYS_MAX = 36_500

/** Settings that are secrets, though each has to be there. */
const SECRET_SETTINGS = [
  "LATHE_SECRET",
  "OPERATOR_TOKEN",
  "RUNNER_TOKEN",
  "ANNOUNCE_TOKEN",
] as const

const parsed = new WeakMap<object, Settings>()

/** The settings of an environment, parsed once; throws a ZodError that names what is wrong. */
export function settingsOf(env: Env): Settings {
  const known = parsed.get(env)
  if (known) return known
  prepareLog(env)
  const made = settings.parse(env)
  parsed.set(env, made)
  return made
}

/** Has the log of this isolate keep to its level, and show no secret of the environment. */
export function prepareLog(env: Env): void {
  if (prepared.has(env)) return
  prepared.add(env)
  setLogLevel(readLogLevel(env.LOG_LEVEL))
  const rate = Number(env.LOG_SAMPLE_RATE ?? 1)
  setLogSampleRate(Number.isNaN(rate) ? 1 : rate)
  const values = [...SECRET_SETTINGS, ...secretNames].map((name) => env[name])
  hideSecrets([...values, ...values.flatMap(secretsInside)])
}

const prepared = new WeakSet<object>()

/** How long what was fetched is kept, no longer than its record, and how long anything is. */
export function retentionOf(env: Env): Retention {
  const { FETCH_DAYS_MAX, JOB_DAYS_MAX, RETENTION_DAYS } = settingsOf(env)
  const days = Math.min(FETCH_DAYS_MAX, JOB_DAYS_MAX, DAYS_MAX)
  const retentionMsMax = RETENTION_DAYS === undefined ? null : RETENTION_DAYS * DAY_MS
  return { now: Date.now(), fetchedMs: days * DAY_MS, retentionMsMax }
}

/** The limits of a plan: its own, else those of src/plans.ts where no setting replaces them. */
export function limitsOf({ plan, ownLimits }: HeldPlan, values: Settings): Limits {
  if (ownLimits) {
    return {
      ...ownLimits,
      runSecondsMax: Math.min(ownLimits.runSecondsMax, values.RUN_SECONDS_MAX),
    }
  }
  const name = isBuiltInPlan(plan) ? plan : DEFAULT_PLAN
  const prefix = name === "trial" ? "TRIAL" : "PAID"
  const limits = LIMITS[name]
  const runSecondsMax = values[`${prefix}_RUN_SECONDS_MAX`] ?? limits.runSecondsMax
  return {
    fileBytesMax: values[`${prefix}_FILE_BYTES_MAX`] ?? limits.fileBytesMax,
    inputBytesMax: values[`${prefix}_INPUT_BYTES_MAX`] ?? limits.inputBytesMax,
    requestsPerMinute: values[`${prefix}_REQUESTS_PER_MINUTE`] ?? limits.requestsPerMinute,
    runningJobsMax: values[`${prefix}_RUNNING_JOBS_MAX`] ?? limits.runningJobsMax,
    waitingJobsMax: values[`${prefix}_WAITING_JOBS_MAX`] ?? limits.waitingJobsMax,
    runSecondsMax: Math.min(runSecondsMax, values.RUN_SECONDS_MAX),
    storageBytesMax: values[`${prefix}_STORAGE_BYTES_MAX`] ?? limits.storageBytesMax,
    fetchesPerDay: values[`${prefix}_FETCHES_PER_DAY`] ?? limits.fetchesPerDay,
    linkSecondsMax: values[`${prefix}_LINK_SECONDS_MAX`] ?? limits.linkSecondsMax,
    slotsShareMax: limits.slotsShareMax,
  }
}
