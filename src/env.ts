import { LIMITS } from "./contract/plan.ts"
import type { Limits, Plan } from "./contract/plan.ts"
import type { Dispatcher } from "./pipeline/dispatcher.ts"
import type { Pool } from "./pipeline/pool.ts"
import type { RateLimiter } from "./http/rate-limit.ts"
import type { FetchRunner, MediaRunner } from "./runner/container.ts"
import { settings } from "./settings.ts"
import type { Settings } from "./settings.ts"

export type Env = Record<keyof Settings, string | undefined> & {
  DB: D1Database
  MEDIA: R2Bucket
  JOBS: Queue<unknown>
  WEBHOOKS: Queue<unknown>
  DISPATCHER: DurableObjectNamespace<Dispatcher>
  POOL: DurableObjectNamespace<Pool>
  RATE_LIMITER: DurableObjectNamespace<RateLimiter>
  MEDIA_RUNNER: DurableObjectNamespace<MediaRunner>
  FETCH_RUNNER: DurableObjectNamespace<FetchRunner>
  /** The way to a runner that is a plain process, where users' URLs go another one. */
  RUNNER?: Fetcher
}

const parsed = new WeakMap<object, Settings>()

/** The settings of an environment, parsed once; throws a ZodError that names what is wrong. */
export function settingsOf(env: Env): Settings {
  const known = parsed.get(env)
  if (known) return known
  const made = settings.parse(env)
  parsed.set(env, made)
  return made
}

/** The limits of a plan, where the operator's settings do not replace them. */
export function limitsOf(plan: Plan, values: Settings): Limits {
  const named = plan === "trial" ? "TRIAL" : "PAID"
  return {
    fileBytesMax: values[`${named}_FILE_BYTES_MAX`] ?? LIMITS[plan].fileBytesMax,
    requestsPerMinute: values[`${named}_REQUESTS_PER_MINUTE`] ?? LIMITS[plan].requestsPerMinute,
    runningJobsMax: values[`${named}_RUNNING_JOBS_MAX`] ?? LIMITS[plan].runningJobsMax,
  }
}
