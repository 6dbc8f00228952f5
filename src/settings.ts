import { z } from "zod"
import { LOG_LEVELS } from "./contract/log-line.ts"
import { DISK_RESERVE_BYTES, RUNNER_TOKEN_CHARACTERS_MIN } from "./contract/protocol.ts"
import { judgeHosts } from "./contract/user-url.ts"
import { ytdlpVersion } from "./contract/ytdlp-version.ts"
import { corsOrigins } from "./cors-origins.ts"
import { judgeCookies } from "./kinds/fetch/cookies.ts"
import { REGION_NAMES } from "./regions.ts"
import { INSTANCE_TYPES } from "./runner/instance-types.ts"
import { describeS3Issue, s3Sources } from "./s3-sources.ts"
import { judgeSignInProviders } from "./sign-in-providers.ts"

const WHOLE = "expected a whole number above 0"
const count = z.coerce.number(WHOLE).int(WHOLE).positive(WHOLE)
const SHARE = "expected a number from 0 to 1"
/** Upkeep, the health and the operator's pages ask each of them several statements in one invocation. */
const DATABASES_MAX = 32
/** The platform kills a container 900 seconds after its SIGTERM; the rest is for last reports. */
const DRAIN_SECONDS_MAX = 780
const DRAIN = `expected a whole number from 0 to ${DRAIN_SECONDS_MAX}`
const instanceType = z.enum(INSTANCE_TYPES).optional()

/** Settings an operator may set in the environment; each has a default that suits one machine. */
export const settings = z.object({
  /** D1 databases that the rows of accounts are spread over; it may rise, and never fall. */
  DATABASES: count.max(DATABASES_MAX, `expected ${DATABASES_MAX} at most`).default(1),
  /** Signs download links and task tokens; at least 32 characters. */
  LATHE_SECRET: z.string().min(32),
  /** Bearer token of the operator's own routes; at least 32 characters. */
  OPERATOR_TOKEN: z.string().min(32),
  /** Where the service is reached from outside, without /v1; the request's own origin by default. */
  PUBLIC_ORIGIN: z
    .url({ protocol: /^https?$/, error: "expected an address such as https://media.example.com" })
    .refine((text) => !/\/v1\/*$/.test(text), "expected the address without /v1")
    .optional(),
  /**
   * Where the database, the media, the objects and the containers of a deployment are made; where the
   * first caller is, if it names none. What there is stays where it is.
   */
  REGION: z.enum(REGION_NAMES, `expected one of ${REGION_NAMES.join(", ")}`).optional(),
  /** Origin of a runner that is a plain process; without it runners are containers. */
  RUNNER_ORIGIN: z.url().optional(),
  /** The bearer token of the plain runner; the start script makes it. */
  RUNNER_TOKEN: z.string().min(RUNNER_TOKEN_CHARACTERS_MIN).optional(),
  /** The bearer token by which the plain runner announces that it started, and nothing else. */
  ANNOUNCE_TOKEN: z.string().min(RUNNER_TOKEN_CHARACTERS_MIN).optional(),
  /** Tasks of each pool that the plain runner does at once. */
  RUNNER_CAPACITY: count.default(2),
  /** Containers of the media, the light, the fetch, the lookup and the speech pool that may run at once. */
  RUNNER_INSTANCES: count.default(10),
  LIGHT_INSTANCES: count.default(10),
  FETCH_INSTANCES: count.default(5),
  LOOKUP_INSTANCES: count.default(5),
  SPEECH_INSTANCES: count.default(5),
  /** Their sizes, where they are not those of src/runner/pools.ts. */
  RUNNER_INSTANCE_TYPE: instanceType,
  LIGHT_INSTANCE_TYPE: instanceType,
  FETCH_INSTANCE_TYPE: instanceType,
  LOOKUP_INSTANCE_TYPE: instanceType,
  SPEECH_INSTANCE_TYPE: instanceType,
  /** How long a container waits for the next task of its account before it ends, in seconds. */
  CONTAINER_IDLE_SECONDS: count.default(10),
  /**
   * How long a container that the platform stops goes on with its task, in seconds, before it interrupts
   * it; a runner of one machine interrupts at once.
   */
  DRAIN_SECONDS_MAX: z.coerce
    .number(DRAIN)
    .int(DRAIN)
    .min(0, DRAIN)
    .max(DRAIN_SECONDS_MAX, DRAIN)
    .default(DRAIN_SECONDS_MAX),
  /**
   * Bytes of the disk of one machine that media never take, so that there is room for rows: below
   * it uploads are refused and no task is begun.
   */
  DISK_RESERVE_BYTES: count.default(DISK_RESERVE_BYTES),
  /** An upload of which no byte came for so long is ended, in seconds; any other body, too. */
  UPLOAD_IDLE_SECONDS: count.default(30),
  /** A body that brings less than this on average, over UPLOAD_IDLE_SECONDS, is ended, too. */
  UPLOAD_BYTES_PER_SECOND_MIN: count.default(4096),
  /**
   * Bytes that the body of an upload may have; any number where it is not set. A plan of Cloudflare bounds
   * it in front of the Worker: 100 MB for Free and Pro, 200 MB for Business.
   */
  UPLOAD_BODY_BYTES_MAX: count.optional(),
  /** Origins whose pages may ask the interface by scripts, by commas; none by default, `*` for all. */
  CORS_ORIGINS: corsOrigins,
  /** Where a plain runner reaches this Worker for inputs, outputs and reports. */
  IO_ORIGIN: z.url().optional(),
  /** Longest run of a command, all its entries together, in seconds; a plan may allow less. */
  RUN_SECONDS_MAX: count.default(1800),
  /** Life of a download link, in seconds. */
  LINK_SECONDS: count.default(300),
  /** Hosts (`host` or `host:port`, by commas) that user URLs may name though they are not public. */
  ALLOWED_PRIVATE_HOSTS: z
    .string()
    .default("")
    .superRefine((text, context) => {
      const message = judgeHosts(text)
      if (message !== null) context.addIssue({ code: "custom", message })
    }),
  /** What the ffmpeg that runs commands knows, as src/kinds/command/facts/known.ts reads it. */
  FFMPEG_FACTS: z.string().min(1).default("image"),
  /** Hosts that media may be fetched from, with all below them, by commas; empty: every public one. */
  FETCH_SITES: z
    .string()
    .regex(/^[^/:;*]*$/, "expected host names, by commas, such as `youtube.com,vimeo.com`")
    .default(""),
  /** The speech model of transcriptions that name none: its name, or the path of a folder with it. */
  WHISPER_MODEL: z.string().min(1).default("base"),
  /** Names of further speech models that requests may name, by commas. */
  WHISPER_MODELS: z.string().default(""),
  /** How long a runner keeps its speech model in memory after its last use, in seconds. */
  WHISPER_IDLE_SECONDS: count.default(600),
  /** How long what was fetched is kept, in days, and no longer than its row. */
  FETCH_DAYS_MAX: count.default(7),
  /**
   * Waits between a webhook's tries, in seconds by commas; one more try than there are waits. A wait may be
   * longer than the 12 hours that a message of a queue waits.
   */
  WEBHOOK_RETRY_SECONDS: z
    .string()
    .regex(/^[1-9]\d{0,6}(,[1-9]\d{0,6})*$/, "expected seconds, by commas")
    .default("5,300,1800,7200,18000,36000,36000")
    .transform((text) => text.split(",").map(Number)),
  /** A job that got no capacity by then fails as expired, in seconds. */
  WAIT_SECONDS_MAX: count.default(86_400),
  /** The least entries that the log has: debug, info, warn or error. */
  LOG_LEVEL: z.enum(LOG_LEVELS).default("info"),
  /**
   * The share of requests, from 0 to 1, of which the log tells what went well; warnings, errors and
   * whatever failed are always there.
   */
  LOG_SAMPLE_RATE: z.coerce.number(SHARE).min(0, SHARE).max(1, SHARE).default(1),
  /**
   * How long after its end a job is kept with all that it stored, Files included, in days; for ever
   * where it is not set.
   */
  RETENTION_DAYS: count.max(36_500).optional(),
  /** How long the row of a finished job is kept, in days; its files stay until they are deleted. */
  JOB_DAYS_MAX: count.default(90),
  /** Bytes that a database takes; from four fifths of them on, its operator is told. D1 takes 10 GB. */
  DATABASE_BYTES_MAX: count.default(10_000_000_000),
  /** Who may sign up: anybody, whom the operator invited, or nobody. */
  SIGN_UP: z.enum(["open", "invitation", "closed"]).default("closed"),
  /** The sender of mails, as a mail header has it. */
  MAIL_FROM: z.string().min(3).default("Lathe <lathe@localhost>"),
  /** Where mails are sent, with RESEND_API_KEY: Resend, or what speaks as it does. */
  MAIL_API_URL: z.url().default("https://api.resend.com/emails"),
  /** Numbers that replace those of src/plans.ts. */
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
 * What the runners that go to the web alone may know. On Cloudflare these are secrets of the Worker,
 * which hands them to containers of the pools fetch and lookup; on one machine the Worker does not have them.
 */
export const fetchSecrets = z.object({
  /** Cookies that every fetch has: the text of a cookies.txt. */
  FETCH_COOKIES: z.string().superRefine((text, context) => {
    const message = judgeCookies(text)
    if (message !== null) context.addIssue({ code: "custom", message })
  }),
  /** A proxy that all fetches go through, by CONNECT to addresses that were checked. */
  FETCH_PROXY: z.url({ protocol: /^http$/, error: "expected an http:// URL" }),
  /** The yt-dlp to use instead of the built-in one. */
  YTDLP_VERSION: ytdlpVersion,
})

/** What the Worker alone may know, a secret of it on Cloudflare: no runner is told. */
export const workerSecrets = z.object({
  /** The key of the mail provider; without it mails land in a folder, or nowhere. */
  RESEND_API_KEY: z.string().min(1),
  /** Other services that people may sign in by: client ids and secrets, by the service's name. */
  SIGN_IN_PROVIDERS: z.string().superRefine((text, context) => {
    const message = judgeSignInProviders(text)
    if (message !== null) context.addIssue({ code: "custom", message })
  }),
  /** Buckets that inputs may be read from (`s3://bucket/key`), and the credentials for that. */
  S3_SOURCES: z.string().superRefine((text, context) => {
    const { error } = s3Sources.safeParse(text)
    if (error) context.addIssue({ code: "custom", message: describeS3Issue(error) })
  }),
})

const secrets = z.object({ ...fetchSecrets.shape, ...workerSecrets.shape })

export const workerSecretNames = workerSecrets.keyof().options
/** Names of all secrets that an operator may set; those that are made are settings. */
export const secretNames = secrets.keyof().options

export type SecretName = (typeof secretNames)[number]

/** What is wrong with the secrets of an environment, a sentence each that does not show them. */
export function problemsOfSecrets(environment: Record<string, string | undefined>): string[] {
  return secretNames.flatMap((name) => {
    const { [name]: value } = environment
    const error = value ? secrets.shape[name].safeParse(value).error : null
    return error ? [`${name}: ${error.issues[0]?.message}.`] : []
  })
}

export type Settings = z.infer<typeof settings>

/** Names of all settings; the start script hands these, and no other variable, to the Worker. */
export const settingNames = Object.keys(settings.shape)
