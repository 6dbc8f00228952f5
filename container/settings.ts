import { isIPv4 } from "node:net"
import { availableParallelism, totalmem, tmpdir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import {
  DISK_RESERVE_BYTES,
  OUTPUT_PART_BYTES,
  RUNNER_TOKEN_CHARACTERS_MIN,
} from "../src/contract/protocol.ts"
import { parseSiteList } from "../src/contract/urls/allowed-site.ts"
import { parseSpeechModels } from "../src/contract/speech-models.ts"
import type { SpeechModels } from "../src/contract/speech-models.ts"
import { parseHostList } from "../src/contract/urls/user-url.ts"
import type { ToolName } from "../src/contract/tasks/definition.ts"
import { ytdlpVersionSchema } from "../src/contract/ytdlp-version.ts"
import type { YtdlpVersion } from "../src/contract/ytdlp-version.ts"

import { readUsableMemoryBytes } from "./sandbox/memory.ts"

const MIB = 1024 ** 2
const GIB = 1024 ** 3

/**
 * Resource limits of one tool. The limits whose names begin with `workspace` apply to all tools in
 * one workspace together.
 */
export type ToolLimits = {
  /**
   * Maximum address space of a tool, in bytes. SVT-AV1 needs 5 GB for 4K video; ffmpeg with
   * `-threads 1000` reserves 27 GB.
   */
  memoryBytes: number
  /**
   * Maximum resident memory of a tool and its child processes, in bytes. A tool that exceeds this
   * limit is killed before the machine runs out of memory.
   */
  residentBytes: number
  /** Maximum size of one file, in bytes. An encoder can write a gigabyte a second. */
  fileBytes: number
  /**
   * Maximum CPU time of a tool, in seconds. Null allows all cores for the whole time limit of the
   * tool.
   */
  cpuSeconds: number | null
  /**
   * Maximum number of open file descriptors of a tool. The tee muxer with many segments needs some
   * dozens.
   */
  openFiles: number
  /**
   * Maximum number of threads of a tool. Each filter graph and each encoder of ffmpeg uses at least
   * one thread per core.
   */
  threads: number
  /** Maximum number of bytes that the tools of a workspace may write. The inputs do not count. */
  workspaceBytes: number
  /**
   * Maximum number of files and folders of a workspace. An image sequence can grow by thousands of
   * files a second.
   */
  workspaceFiles: number
  /**
   * Maximum number of bytes that a tool writes to its pipes: stdout, stderr and progress. `-v
   * trace` prints megabytes a second.
   */
  logBytes: number
  /** Number of bytes that tasks must leave free on the disk. */
  diskReserveBytes: number
}

/**
 * Share of the machine's memory that one tool may use. The rest is for the runner, the operating
 * system and the program that measures the workspace.
 */
const RESIDENT_SHARE = 0.85

/** Default limits of tools, computed from the memory and the cores of this machine. */
export const DEFAULT_TOOL_LIMITS: ToolLimits = {
  memoryBytes: Math.min(16 * GIB, Math.max(4 * GIB, 2 * totalmem())),
  residentBytes: Math.floor(RESIDENT_SHARE * readUsableMemoryBytes()),
  fileBytes: 4 * GIB,
  cpuSeconds: null,
  openFiles: 512,
  threads: Math.max(512, 32 * availableParallelism()),
  workspaceBytes: 8 * GIB,
  workspaceFiles: 5000,
  logBytes: 64 * MIB,
  diskReserveBytes: DISK_RESERVE_BYTES,
}

/**
 * Maximum time without progress of a transfer, in milliseconds. The time is longer than R2 takes to
 * store a part, and short enough to retry a stalled transfer before the lease of the run expires.
 */
const TRANSFER_IDLE_MS = 20_000

/**
 * Default maximum of warm sandboxes for each pool. Each warm sandbox takes three processes, and
 * four sandboxes suffice for short tasks in sequence.
 */
const WARM_SANDBOXES_MAX = 4

const port = z.coerce.number().int().min(0).max(65_535)
const count = z.coerce.number().int().positive()
const countOrNone = z.coerce.number().int().min(0)

const environment = z.object({
  RUNNER_PORT: port.default(8788),
  RUNNER_HOST: z.string().min(1).default("127.0.0.1"),
  /**
   * Bearer token that requests to the runner must contain. The token is optional only if the runner
   * listens on a loopback address.
   */
  RUNNER_TOKEN: z.string().min(RUNNER_TOKEN_CHARACTERS_MIN).optional(),
  RUNNER_CAPACITY: count.default(availableParallelism()),
  /**
   * Maximum number of warm sandboxes for each pool; 0 disables warm sandboxes. Default:
   * RUNNER_CAPACITY, but at most 4.
   */
  RUNNER_PLACES_MAX: countOrNone.optional(),
  WORK_DIR: z.string().min(1).default(join(tmpdir(), "lathe-work")),
  FFMPEG_PATH: z.string().min(1).default("ffmpeg"),
  FFPROBE_PATH: z.string().min(1).default("ffprobe"),
  /**
   * Path of an ffmpeg with network access, which downloads sections of videos. Default:
   * FFMPEG_PATH.
   */
  FETCH_FFMPEG_PATH: z.string().min(1).optional(),
  /** Path of a Python interpreter that has yt-dlp. */
  FETCH_PYTHON_PATH: z.string().min(1).default("/opt/fetch/bin/python"),
  /** Path of a Python interpreter that has faster-whisper. */
  SPEECH_PYTHON_PATH: z.string().min(1).default("/opt/speech/bin/python"),
  /**
   * Folder that contains a subfolder for each speech model. Each subfolder has the name of its
   * model.
   */
  SPEECH_MODELS_PATH: z.string().min(1).default("/opt/models"),
  /** Default speech model, and names of additional speech models, separated by commas. */
  WHISPER_MODEL: z.string().min(1).default("base"),
  WHISPER_MODELS: z.string().default(""),
  /** Time for which a speech model stays in memory after its last use, in seconds. */
  WHISPER_IDLE_SECONDS: count.default(600),
  /** Whether tools may access the network through the proxy of the runner, or not at all. */
  RUNNER_NETWORK: z.enum(["proxy", "none"]).default("proxy"),
  /**
   * Hosts (`host` or `host:port`) from which downloads are allowed although the addresses of the
   * hosts are not public.
   */
  ALLOWED_PRIVATE_HOSTS: z.string().default("").transform(parseHostList),
  /**
   * URL of the HTTP proxy for downloads from the web, with a user name and password if the proxy
   * requires them.
   */
  FETCH_PROXY: z
    .string()
    .default("")
    .refine(
      (text) => text === "" || URL.parse(text)?.protocol === "http:",
      "expected an http:// URL",
    )
    .transform((text) => (text === "" ? null : new URL(text))),
  /**
   * Web sites from which downloads are allowed, including their subdomains. An empty list allows
   * all sites.
   */
  FETCH_SITES: z.string().default("").transform(parseSiteList),
  /** Version of yt-dlp that replaces the built-in version, and the SHA-256 of its wheel. */
  YTDLP_VERSION: z.string().default(""),
  /**
   * Cookies of the operator in Netscape's format. A fetch uses these cookies if its request
   * contains no cookies.
   */
  FETCH_COOKIES: z.string().default(""),
  /** Limits of a tool's resources: see the type ToolLimits. */
  TOOL_MEMORY_BYTES_MAX: count.default(DEFAULT_TOOL_LIMITS.memoryBytes),
  TOOL_RESIDENT_BYTES_MAX: count.default(DEFAULT_TOOL_LIMITS.residentBytes),
  TOOL_FILE_BYTES_MAX: count.default(DEFAULT_TOOL_LIMITS.fileBytes),
  TOOL_CPU_SECONDS_MAX: count.optional(),
  TOOL_OPEN_FILES_MAX: count.default(DEFAULT_TOOL_LIMITS.openFiles),
  TOOL_THREADS_MAX: count.default(DEFAULT_TOOL_LIMITS.threads),
  TOOL_LOG_BYTES_MAX: count.default(DEFAULT_TOOL_LIMITS.logBytes),
  WORKSPACE_BYTES_MAX: count.default(DEFAULT_TOOL_LIMITS.workspaceBytes),
  WORKSPACE_FILES_MAX: count.default(DEFAULT_TOOL_LIMITS.workspaceFiles),
  DISK_RESERVE_BYTES: count.default(DEFAULT_TOOL_LIMITS.diskReserveBytes),
  /**
   * Maximum time, in seconds, for which a task waits if the disk would be too full even after the
   * end of all running tasks.
   */
  DISK_WAIT_SECONDS_MAX: count.default(600),
  /** Additional files and folders that tools may read, separated by colons. */
  SANDBOX_READ_PATHS: z
    .string()
    .default("")
    .transform((text) => text.split(":").filter((path) => path !== "")),
  /** Time that running tasks have after a SIGTERM before they are interrupted, in seconds. */
  DRAIN_SECONDS_MAX: countOrNone.default(0),
  /**
   * First user id of the range that is reserved for tools. No other program may use this range.
   * Only a runner that is root uses the range.
   */
  SANDBOX_FIRST_UID: count.default(20_001),
  /** "1" lets tools run without a sandbox if the system supports no tier of the sandbox. */
  ALLOW_UNSANDBOXED: z.enum(["", "0", "1"]).default(""),
  /**
   * Number of failed self-tests of the sandbox after which the runner exits. By default, the runner
   * never exits.
   */
  SELF_TESTS_MAX: count.optional(),
  /**
   * UNIX socket of a Worker on the same machine. The runner sends requests with large bodies to
   * this socket instead of the Worker's URL.
   */
  IO_SOCKET: z.string().min(1).optional(),
  /** URL to which the runner announces its start, and the bearer token for that URL. */
  ANNOUNCE_URL: z.url().optional(),
  ANNOUNCE_TOKEN: z.string().optional(),
})

export type RunnerEnvironment = z.infer<typeof environment>

/**
 * Settings of a runner process. `boot` is a random id by which the Worker recognizes the process.
 */
export type RunnerSettings = {
  boot: string
  /** Bearer token that requests to the runner must contain; null if no token is required. */
  token: string | null
  /**
   * UNIX socket to which large request bodies for the Worker are sent; null if all requests go to
   * the Worker's URL.
   */
  ioSocket: string | null
  capacity: number
  /** Maximum number of warm sandboxes for each pool. */
  warmSandboxesMax: number
  workDir: string
  toolPaths: Record<ToolName | "fetch-ffmpeg", string>
  /** Parsed YTDLP_VERSION, or the reason why it is invalid; null for the built-in version. */
  ytdlpVersion: YtdlpVersion | { problem: string } | null
  /** Settings of transcription. `defaultModel` is the name of a model or the path of its folder. */
  speech: { modelsPath: string; defaultModel: string; models: SpeechModels; idleMs: number }
  /**
   * Cookies of the operator. A fetch uses these cookies if its request contains no cookies. The
   * cookies are never shown or logged.
   */
  fetchCookies: string | null
  outputPartBytes: number
  /** Maximum time without progress of a transfer from or to the Worker, in milliseconds. */
  transferIdleMs: number
  limits: ToolLimits
  /** Allowed private hosts and allowed web sites for downloads, and the proxy for downloads. */
  egress: { allowedHosts: string[]; proxy: URL | null; sites: string[] }
  /** Time that running tasks have after a SIGTERM before they are interrupted, in milliseconds. */
  drainMs: number
  /**
   * Maximum time, in milliseconds, for which a task waits if the disk would be too full even after
   * the end of all running tasks.
   */
  diskWaitMs: number
  sandboxReadPaths: string[]
  sandboxFirstUid: number
  allowUnsandboxed: boolean
  /** Whether tools may have network access. */
  hasNetwork: boolean
  /** Number of failed self-tests of the sandbox after which the runner exits. */
  selfTestsMax: number
}

/**
 * Parses the environment variables of a runner. Throws a ZodError that names the invalid variable.
 */
export function parseRunnerEnvironment(env: NodeJS.ProcessEnv): RunnerEnvironment {
  return environment.parse(env)
}

/** Converts environment variables to the settings of a new runner process. */
export function toRunnerSettings(values: RunnerEnvironment): RunnerSettings {
  return {
    boot: crypto.randomUUID(),
    token: values.RUNNER_TOKEN ?? null,
    ioSocket: values.IO_SOCKET ?? null,
    capacity: values.RUNNER_CAPACITY,
    warmSandboxesMax:
      values.RUNNER_PLACES_MAX ?? Math.min(values.RUNNER_CAPACITY, WARM_SANDBOXES_MAX),
    workDir: values.WORK_DIR,
    toolPaths: {
      ffmpeg: values.FFMPEG_PATH,
      ffprobe: values.FFPROBE_PATH,
      "fetch-ffmpeg": values.FETCH_FFMPEG_PATH ?? values.FFMPEG_PATH,
      "yt-dlp": values.FETCH_PYTHON_PATH,
      whisper: values.SPEECH_PYTHON_PATH,
    },
    ytdlpVersion: readYtdlpVersion(values.YTDLP_VERSION),
    speech: {
      modelsPath: values.SPEECH_MODELS_PATH,
      defaultModel: values.WHISPER_MODEL,
      models: parseSpeechModels(values),
      idleMs: values.WHISPER_IDLE_SECONDS * 1000,
    },
    fetchCookies: values.FETCH_COOKIES.trim() === "" ? null : values.FETCH_COOKIES,
    outputPartBytes: OUTPUT_PART_BYTES,
    transferIdleMs: TRANSFER_IDLE_MS,
    limits: makeLimits(values),
    egress: {
      allowedHosts: values.ALLOWED_PRIVATE_HOSTS,
      proxy: values.FETCH_PROXY,
      sites: values.FETCH_SITES,
    },
    drainMs: values.DRAIN_SECONDS_MAX * 1000,
    diskWaitMs: values.DISK_WAIT_SECONDS_MAX * 1000,
    sandboxReadPaths: values.SANDBOX_READ_PATHS,
    sandboxFirstUid: values.SANDBOX_FIRST_UID,
    allowUnsandboxed: values.ALLOW_UNSANDBOXED === "1",
    hasNetwork: values.RUNNER_NETWORK === "proxy",
    selfTestsMax: values.SELF_TESTS_MAX ?? Number.POSITIVE_INFINITY,
  }
}

/**
 * Returns a sentence that explains why a runner without a token must not listen on a host. Returns
 * null if the runner may listen on the host.
 */
export function explainUnsafeListenHost(host: string, token: string | null): string | null {
  if (token !== null || isLoopback(host)) return null
  return (
    `RUNNER_HOST is "${host}", which other machines can reach, and RUNNER_TOKEN is not set: ` +
    "set RUNNER_TOKEN to at least 32 random characters, or RUNNER_HOST to 127.0.0.1."
  )
}

/**
 * Parses the setting YTDLP_VERSION. If the value is invalid, the runner uses the built-in version
 * of yt-dlp, and the runner's health reports the problem.
 */
function readYtdlpVersion(text: string): RunnerSettings["ytdlpVersion"] {
  if (text.trim() === "") return null
  const { data, error } = ytdlpVersionSchema.safeParse(text)
  return data ?? { problem: `YTDLP_VERSION: ${error?.issues[0]?.message}` }
}

function makeLimits(values: RunnerEnvironment): ToolLimits {
  return {
    memoryBytes: values.TOOL_MEMORY_BYTES_MAX,
    residentBytes: values.TOOL_RESIDENT_BYTES_MAX,
    fileBytes: values.TOOL_FILE_BYTES_MAX,
    cpuSeconds: values.TOOL_CPU_SECONDS_MAX ?? null,
    openFiles: values.TOOL_OPEN_FILES_MAX,
    threads: values.TOOL_THREADS_MAX,
    logBytes: values.TOOL_LOG_BYTES_MAX,
    workspaceBytes: values.WORKSPACE_BYTES_MAX,
    workspaceFiles: values.WORKSPACE_FILES_MAX,
    diskReserveBytes: values.DISK_RESERVE_BYTES,
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."))
}
