import { registerSecrets, extractSecretsFromSetting } from "../contract/redact.ts"
import { parseLogLevel } from "../contract/log-line.ts"
import { setLogLevel, setLogSampleRate } from "../platform/log.ts"
import type { RetentionSettings } from "../domain/retention.ts"
import type { DispatcherRpc, PoolRpc, RateLimiterRpc, RunnerRpc } from "./rpc.ts"
import type { PoolBinding } from "./pools.ts"
import { secretNames, settingsSchema } from "./settings.ts"
import type { SecretName, Settings } from "./settings.ts"

export type Env = Record<keyof Settings, string | undefined> &
  Partial<Record<SecretName, string>> &
  Record<PoolBinding, DurableObjectNamespace<RunnerRpc>> & {
    /**
     * The first database, which is also the directory. Further databases are the bindings DB_2,
     * DB_3 and so on.
     */
    DB: D1Database
    [other: `DB_${number}`]: D1Database | undefined
    MEDIA: R2Bucket
    JOBS: Queue<unknown>
    WEBHOOKS: Queue<unknown>
    DISPATCHER: DurableObjectNamespace<DispatcherRpc>
    POOL: DurableObjectNamespace<PoolRpc>
    RATE_LIMITER: DurableObjectNamespace<RateLimiterRpc>
    /**
     * Rate limit by client address for requests with invalid API keys, and for requests for the
     * service's capabilities.
     */
    REFUSED_KEYS: RateLimit
    /**
     * Connection to the runner process of a service on one machine. Requests to users' URLs never
     * use it.
     */
    RUNNER?: Fetcher
    /**
     * Connection to the S3 services of S3_SOURCES, and to no other host. Requests to users' URLs
     * never use it.
     */
    S3?: Fetcher
    /**
     * Receiver of mails on one machine without a mail provider. The receiver writes each mail to a
     * folder.
     */
    MAILS?: Fetcher
    /**
     * Analytics Engine dataset for metrics on Cloudflare. On one machine the route /metrics serves
     * the metrics.
     */
    METRICS?: AnalyticsEngineDataset
    /**
     * Static files of the documentation site, by URL path: Workers static assets on Cloudflare, a
     * folder on one machine.
     */
    ASSETS: Fetcher
    /**
     * Service that reports the free space of the disk with the database and media; absent on
     * Cloudflare.
     */
    DISK?: Fetcher
  }

const DAY_MS = 24 * 3_600_000
/**
 * Maximum retention in days: a century. This value stands for "forever" and keeps every expiry a
 * valid date.
 */
const DAYS_MAX = 36_500

/** Settings whose values are secret. */
const SECRET_SETTINGS = [
  "LATHE_SECRET",
  "OPERATOR_TOKEN",
  "RUNNER_TOKEN",
  "ANNOUNCE_TOKEN",
] as const

const parsed = new WeakMap<object, Settings>()

/**
 * Returns the parsed and cached settings of an environment. Throws a ZodError that names each
 * invalid setting.
 */
export function getSettings(env: Env): Settings {
  const cached = parsed.get(env)
  if (cached) return cached
  configureLog(env)
  const value = settingsSchema.parse(env)
  parsed.set(env, value)
  return value
}

/** Sets the log level of the isolate, and makes the log hide the secrets of the environment. */
export function configureLog(env: Env): void {
  if (prepared.has(env)) return
  prepared.add(env)
  setLogLevel(parseLogLevel(env.LOG_LEVEL))
  const rate = Number(env.LOG_SAMPLE_RATE ?? 1)
  setLogSampleRate(Number.isNaN(rate) ? 1 : rate)
  const values = [...SECRET_SETTINGS, ...secretNames].map((name) => env[name])
  registerSecrets([...values, ...values.flatMap(extractSecretsFromSetting)])
}

const prepared = new WeakSet<object>()

/**
 * Returns the retention of fetched media and the maximum retention of any file. Fetched media are
 * kept at most as long as their jobs.
 */
export function getRetention(env: Env): RetentionSettings {
  const { FETCH_DAYS_MAX, JOB_DAYS_MAX, RETENTION_DAYS } = getSettings(env)
  const days = Math.min(FETCH_DAYS_MAX, JOB_DAYS_MAX, DAYS_MAX)
  const retentionMsMax = RETENTION_DAYS === undefined ? null : RETENTION_DAYS * DAY_MS
  return { now: Date.now(), fetchedMs: days * DAY_MS, retentionMsMax }
}
