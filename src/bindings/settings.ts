import { z } from "zod"
import { LOG_LEVELS } from "../contract/log-line.ts"
import { DISK_RESERVE_BYTES, RUNNER_TOKEN_CHARACTERS_MIN } from "../contract/protocol.ts"
import { describeInvalidHostList } from "../contract/urls/user-url.ts"
import { ytdlpVersionSchema } from "../contract/ytdlp-version.ts"
import { corsOriginsSchema } from "./cors-origins.ts"
import { findCookiesProblem } from "../contract/netscape-cookies.ts"
import { REGION_NAMES } from "./regions.ts"
import { INSTANCE_TYPES } from "./instance-types.ts"
import { describeS3Issue, s3SourcesSchema } from "./s3-sources.ts"
import { describeInvalidProviders } from "./sign-in-providers.ts"

const WHOLE = "expected a whole number above 0"
const count = z.coerce.number(WHOLE).int(WHOLE).positive(WHOLE)
const WHOLE_OR_0 = "expected a whole number, or 0"
const SHARE = "expected a number from 0 to 1"
/**
 * Maximum number of databases. The sweep, the health check and the operator's pages run several
 * statements on each database in one invocation, and D1 limits the statements of an invocation.
 */
const DATABASES_MAX = 32
/**
 * Maximum time in seconds for which a container may continue its task after SIGTERM. Cloudflare
 * kills the container after 900 seconds. The remaining seconds are for the last reports of runs.
 */
const DRAIN_SECONDS_MAX = 780
const DRAIN = `expected a whole number from 0 to ${DRAIN_SECONDS_MAX}`
const instanceType = z.enum(INSTANCE_TYPES).optional()

/** Sign-up policies that the setting SIGN_UP accepts. */
export const SIGN_UP_POLICIES = ["open", "invitation", "closed"] as const

/**
 * Settings of the service, as environment variables. Each default is for a service on one machine.
 */
export const settingsSchema = z.object({
  /**
   * Number of D1 databases that hold the rows of accounts. An operator may increase the number, but
   * must not decrease it.
   */
  DATABASES: count.max(DATABASES_MAX, `expected at most ${DATABASES_MAX}`).default(1),
  /** Secret that signs download links and task tokens; at least 32 characters. */
  LATHE_SECRET: z.string().min(32),
  /** Bearer token for requests to the operator's routes; at least 32 characters. */
  OPERATOR_TOKEN: z.string().min(32),
  /** Public origin of the service, without /v1. The default is the origin of the request. */
  PUBLIC_ORIGIN: z
    .url({ protocol: /^https?$/, error: "expected an address such as https://media.example.com" })
    .refine((text) => !/\/v1\/*$/.test(text), "expected the address without /v1")
    .optional(),
  /**
   * Location of the databases, the media, the Durable Objects and the containers. By default,
   * Cloudflare creates each near its first caller. A change does not move existing resources.
   */
  REGION: z.enum(REGION_NAMES, `expected one of ${REGION_NAMES.join(", ")}`).optional(),
  /** Origin of the runner process on one machine. If not set, containers run the tasks. */
  RUNNER_ORIGIN: z.url().optional(),
  /** Bearer token for requests to the runner process, which the start script generates. */
  RUNNER_TOKEN: z.string().min(RUNNER_TOKEN_CHARACTERS_MIN).optional(),
  /**
   * Bearer token with which the runner process reports its start. The token permits nothing else.
   */
  ANNOUNCE_TOKEN: z.string().min(RUNNER_TOKEN_CHARACTERS_MIN).optional(),
  /** Number of tasks of each pool that the runner process runs concurrently. */
  RUNNER_CAPACITY: count.default(2),
  /** Maximum number of running containers of the pools media, light, fetch, lookup and speech. */
  RUNNER_INSTANCES: count.default(10),
  LIGHT_INSTANCES: count.default(10),
  FETCH_INSTANCES: count.default(5),
  LOOKUP_INSTANCES: count.default(5),
  SPEECH_INSTANCES: count.default(5),
  /** Instance types of the containers of each pool. The defaults are in src/bindings/pools.ts. */
  RUNNER_INSTANCE_TYPE: instanceType,
  LIGHT_INSTANCE_TYPE: instanceType,
  FETCH_INSTANCE_TYPE: instanceType,
  LOOKUP_INSTANCE_TYPE: instanceType,
  SPEECH_INSTANCE_TYPE: instanceType,
  /**
   * Idle timeout of a container, in seconds. An idle container waits for the next task of the same
   * account.
   */
  CONTAINER_IDLE_SECONDS: count.default(10),
  /**
   * Time for which a container continues its task after Cloudflare's SIGTERM, in seconds.
   * Afterwards the container interrupts the task. The runner process on one machine interrupts
   * tasks at once.
   */
  DRAIN_SECONDS_MAX: z.coerce
    .number(DRAIN)
    .int(DRAIN)
    .min(0, DRAIN)
    .max(DRAIN_SECONDS_MAX, DRAIN)
    .default(DRAIN_SECONDS_MAX),
  /**
   * Bytes that media must leave free on the disk of a service on one machine, so that the database
   * can still be written. With less free space, the service refuses uploads and starts no task.
   */
  DISK_RESERVE_BYTES: count.default(DISK_RESERVE_BYTES),
  /** Idle timeout of an upload, and of any other request body, in seconds. */
  UPLOAD_IDLE_SECONDS: count.default(30),
  /**
   * Minimum average rate of a request body over UPLOAD_IDLE_SECONDS. Slower requests are aborted.
   */
  UPLOAD_BYTES_PER_SECOND_MIN: count.default(4096),
  /**
   * Maximum size of an upload's request body, in bytes; unlimited if unset. Cloudflare has its own
   * limits: 100 MB on Free and Pro, 200 MB on Business.
   */
  UPLOAD_BODY_BYTES_MAX: count.optional(),
  /**
   * Origins whose web pages may call the API, separated by commas. `*` allows all origins; the
   * default is none.
   */
  CORS_ORIGINS: corsOriginsSchema,
  /** Origin at which the runner process reaches this Worker for inputs, outputs and reports. */
  IO_ORIGIN: z.url().optional(),
  /**
   * Time limit of the tools of one task, such as ffmpeg, in seconds, for every kind of task. A plan
   * may have a lower limit (`src/bindings/plan-limits.ts`); the lower one applies.
   */
  RUN_SECONDS_MAX: count.default(1800),
  /** Validity of a download link, in seconds. */
  LINK_SECONDS: count.default(300),
  /**
   * Time for which Cloudflare's cache keeps an object that a download link has opened, in seconds.
   * With 0, every request reads R2. A link to a deleted file may continue to work for this time.
   */
  OBJECT_CACHE_SECONDS: z.coerce.number(WHOLE_OR_0).int(WHOLE_OR_0).min(0, WHOLE_OR_0).default(0),
  /** Private hosts that callers' URLs may name (`host` or `host:port`, separated by commas). */
  ALLOWED_PRIVATE_HOSTS: z
    .string()
    .default("")
    .superRefine((text, context) => {
      const message = describeInvalidHostList(text)
      if (message !== null) context.addIssue({ code: "custom", message })
    }),
  /**
   * Source of the list of FFmpeg features against which commands are checked
   * (src/kinds/command/facts/capabilities.ts).
   */
  FFMPEG_FACTS: z.string().min(1).default("image"),
  /**
   * Hosts that media may be fetched from, including their subdomains, separated by commas. An empty
   * value allows every public host.
   */
  FETCH_SITES: z
    .string()
    .regex(
      /^[^/:;*]*$/,
      "expected host names, separated by commas, such as `youtube.com,vimeo.com`",
    )
    .default(""),
  /** Default speech model of transcriptions: the name of a model, or the path of its folder. */
  WHISPER_MODEL: z.string().min(1).default("base"),
  /** Speech models besides WHISPER_MODEL that requests may name, separated by commas. */
  WHISPER_MODELS: z.string().default(""),
  /** Time for which a runner keeps a speech model in memory after its last use, in seconds. */
  WHISPER_IDLE_SECONDS: count.default(600),
  /** Retention of fetched media, in days. Fetched media are kept at most as long as their jobs. */
  FETCH_DAYS_MAX: count.default(7),
  /**
   * Waits between the tries of a webhook, in seconds, separated by commas. The number of tries is
   * one higher than the number of waits. A wait may exceed 12 hours, the maximum delay of a queue
   * message.
   */
  WEBHOOK_RETRY_SECONDS: z
    .string()
    .regex(/^[1-9]\d{0,6}(,[1-9]\d{0,6})*$/, "expected seconds, separated by commas")
    .default("5,300,1800,7200,18000,36000,36000")
    .transform((text) => text.split(",").map(Number)),
  /**
   * Maximum wait of a job for a free runner, in seconds. The job then fails with the code
   * `expired`.
   */
  WAIT_SECONDS_MAX: count.default(86_400),
  /** Minimum level of logged messages: debug, info, warn or error. */
  LOG_LEVEL: z.enum(LOG_LEVELS).default("info"),
  /**
   * Share of successful requests that are logged, from 0 to 1. Warnings, errors and failures are
   * always logged.
   */
  LOG_SAMPLE_RATE: z.coerce.number(SHARE).min(0, SHARE).max(1, SHARE).default(1),
  /**
   * Retention of a finished job with all its stored data, including Files, in days; unlimited if
   * unset.
   */
  RETENTION_DAYS: count.max(36_500).optional(),
  /**
   * Retention of a finished job's row, in days. Files that the job created stay after that, until
   * they are deleted.
   */
  JOB_DAYS_MAX: count.default(90),
  /**
   * Maximum size of a database, in bytes. The operator gets an alert at four fifths of the maximum.
   * D1's own limit is 10 GB.
   */
  DATABASE_BYTES_MAX: count.default(10_000_000_000),
  /** Sign-up policy: open to everybody, only by the operator's invitation, or closed. */
  SIGN_UP: z.enum(SIGN_UP_POLICIES).default("closed"),
  /** Sender of mails, in the format of a From header. */
  MAIL_FROM: z.string().min(3).default("Lathe <lathe@localhost>"),
  /** URL of the mail provider's API, for RESEND_API_KEY: Resend, or a compatible service. */
  MAIL_API_URL: z.url().default("https://api.resend.com/emails"),
  /** Limits that override those of the built-in plans in src/domain/plans.ts. */
  TRIAL_FILE_BYTES_MAX: count.optional(),
  TRIAL_INPUT_BYTES_MAX: count.optional(),
  TRIAL_REQUESTS_PER_MINUTE: count.optional(),
  TRIAL_RUNNING_JOBS_MAX: count.optional(),
  TRIAL_WAITING_JOBS_MAX: count.optional(),
  TRIAL_RUN_SECONDS_MAX: count.optional(),
  TRIAL_STORAGE_BYTES_MAX: count.optional(),
  TRIAL_FETCHES_PER_DAY: count.optional(),
  TRIAL_LINK_SECONDS_MAX: count.optional(),
  PAID_FILE_BYTES_MAX: count.optional(),
  PAID_INPUT_BYTES_MAX: count.optional(),
  PAID_REQUESTS_PER_MINUTE: count.optional(),
  PAID_RUNNING_JOBS_MAX: count.optional(),
  PAID_WAITING_JOBS_MAX: count.optional(),
  PAID_RUN_SECONDS_MAX: count.optional(),
  PAID_STORAGE_BYTES_MAX: count.optional(),
  PAID_FETCHES_PER_DAY: count.optional(),
  PAID_LINK_SECONDS_MAX: count.optional(),
})

/**
 * Schema of the secrets that only runners with access to the web get. On Cloudflare the Worker
 * holds these secrets and passes them to containers of the pools fetch and lookup. On one machine
 * the Worker does not have them.
 */
export const fetchSecretsSchema = z.object({
  /** Cookies for every fetch, as the text of a cookies.txt file. */
  FETCH_COOKIES: z.string().superRefine((text, context) => {
    const message = findCookiesProblem(text)
    if (message !== null) context.addIssue({ code: "custom", message })
  }),
  /**
   * HTTP proxy of all fetches. The proxy gets CONNECT requests for addresses that were checked
   * before.
   */
  FETCH_PROXY: z.url({ protocol: /^http$/, error: "expected an http:// URL" }),
  /** Version of yt-dlp that replaces the installed version. */
  YTDLP_VERSION: ytdlpVersionSchema,
})

/** Schema of the secrets that only the Worker gets. */
export const workerSecretsSchema = z.object({
  /**
   * API key of the mail provider. Without a key, mails are written to a folder on one machine, and
   * cannot be sent on Cloudflare.
   */
  RESEND_API_KEY: z.string().min(1),
  /** Sign-in services for users: client ids and secrets by the service's name, as JSON. */
  SIGN_IN_PROVIDERS: z.string().superRefine((text, context) => {
    const message = describeInvalidProviders(text)
    if (message !== null) context.addIssue({ code: "custom", message })
  }),
  /**
   * S3 buckets that inputs may be read from (`s3://bucket/key`), with their credentials, as JSON.
   */
  S3_SOURCES: z.string().superRefine((text, context) => {
    const { error } = s3SourcesSchema.safeParse(text)
    if (error) context.addIssue({ code: "custom", message: describeS3Issue(error) })
  }),
})

const secrets = z.object({ ...fetchSecretsSchema.shape, ...workerSecretsSchema.shape })

/** Names of the secrets that only the Worker gets. */
export const workerSecretNames = workerSecretsSchema.keyof().options
/**
 * Names of all secrets that an operator may set. Secrets that scripts generate belong to the
 * settings.
 */
export const secretNames = secrets.keyof().options

export type SecretName = (typeof secretNames)[number]

/** Returns one sentence for each invalid secret of an environment, without the secret's value. */
export function describeInvalidSecrets(environment: Record<string, string | undefined>): string[] {
  return secretNames.flatMap((name) => {
    const { [name]: value } = environment
    const error = value ? secrets.shape[name].safeParse(value).error : null
    return error ? [`${name}: ${error.issues[0]?.message}.`] : []
  })
}

export type Settings = z.infer<typeof settingsSchema>

/** Names of all settings. The start script passes only these variables to the Worker. */
export const settingNames = Object.keys(settingsSchema.shape)
