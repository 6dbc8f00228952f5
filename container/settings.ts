import { isIPv4 } from "node:net"
import { availableParallelism, totalmem, tmpdir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import {
  DISK_RESERVE_BYTES,
  OUTPUT_PART_BYTES,
  RUNNER_TOKEN_CHARACTERS_MIN,
} from "../src/contract/protocol.ts"
import { readSites } from "../src/contract/allowed-site.ts"
import { readSpeechModels } from "../src/contract/speech-models.ts"
import type { SpeechModels } from "../src/contract/speech-models.ts"
import { readHosts } from "../src/contract/user-url.ts"
import type { ToolName } from "../src/contract/tasks/definition.ts"
import { ytdlpVersion } from "../src/contract/ytdlp-version.ts"
import type { YtdlpVersion } from "../src/contract/ytdlp-version.ts"

import { instanceMemoryBytes } from "./sandbox/memory.ts"

const MIB = 1024 ** 2
const GIB = 1024 ** 3

/** Resources that one tool, or all tools of one workspace, may use. */
export type ToolLimits = {
  /** Address space of a tool. SVT-AV1 needs 5 GB at 4K; `-threads 1000` asks for 27. */
  memoryBytes: number
  /** Memory that a tool and its children hold, so that it ends before the machine has none left. */
  residentBytes: number
  /** Size of one file. An encoder can write a gigabyte a second. */
  fileBytes: number
  /** Processor time of a tool; null means all cores for its whole time limit. */
  cpuSeconds: number | null
  /** Open file descriptors of a tool; a tee muxer with many segments needs some dozens. */
  openFiles: number
  /** Threads of a tool; each graph of filters and each encoder of ffmpeg has one a core or more. */
  threads: number
  /** Bytes that the tools of a workspace write, its inputs not counted. */
  workspaceBytes: number
  /** Files and folders of a workspace; an image sequence can grow by thousands a second. */
  workspaceFiles: number
  /** Output of a tool on its pipes, progress included. `-v trace` prints megabytes a second. */
  logBytes: number
  /** Bytes of the disk that stay free, whatever tasks bring and write. */
  diskReserveBytes: number
}

/** The rest is for the runner, the system and the meter of the workspace. */
const RESIDENT_SHARE = 0.85

/** Limits for a machine with this much memory. */
export const DEFAULT_TOOL_LIMITS: ToolLimits = {
  memoryBytes: Math.min(16 * GIB, Math.max(4 * GIB, 2 * totalmem())),
  residentBytes: Math.floor(RESIDENT_SHARE * instanceMemoryBytes()),
  fileBytes: 4 * GIB,
  cpuSeconds: null,
  openFiles: 512,
  threads: Math.max(512, 32 * availableParallelism()),
  workspaceBytes: 8 * GIB,
  workspaceFiles: 5000,
  logBytes: 64 * MIB,
  diskReserveBytes: DISK_RESERVE_BYTES,
}

/** Longer than R2 takes for a part; a transfer that stalls is tried again while its lease lives. */
const TRANSFER_IDLE_MS = 20_000

/** Short tasks come one after another, and a sandbox that waits takes three processes. */
const PLACES_MAX = 4

const port = z.coerce.number().int().min(0).max(65_535)
const count = z.coerce.number().int().positive()
const countOrNone = z.coerce.number().int().min(0)

const environment = z.object({
  RUNNER_PORT: port.default(8788),
  RUNNER_HOST: z.string().min(1).default("127.0.0.1"),
  /** Bearer token that callers must send; optional on a loopback address only. */
  RUNNER_TOKEN: z.string().min(RUNNER_TOKEN_CHARACTERS_MIN).optional(),
  RUNNER_CAPACITY: count.default(availableParallelism()),
  /** Tasks whose sandboxes are prepared, for each pool; 0: none; by default one a task at once. */
  RUNNER_PLACES_MAX: countOrNone.optional(),
  WORK_DIR: z.string().min(1).default(join(tmpdir(), "lathe-work")),
  FFMPEG_PATH: z.string().min(1).default("ffmpeg"),
  FFPROBE_PATH: z.string().min(1).default("ffprobe"),
  /** The ffmpeg that downloads a part of a video, which needs the network; none: FFMPEG_PATH. */
  FETCH_FFMPEG_PATH: z.string().min(1).optional(),
  /** The Python that has yt-dlp. */
  FETCH_PYTHON_PATH: z.string().min(1).default("/opt/fetch/bin/python"),
  /** The Python that has faster-whisper. */
  SPEECH_PYTHON_PATH: z.string().min(1).default("/opt/speech/bin/python"),
  /** The folder of the speech models, each in a folder of its name. */
  SPEECH_MODELS_PATH: z.string().min(1).default("/opt/models"),
  /** The speech model of work that names none; and further ones, by commas. */
  WHISPER_MODEL: z.string().min(1).default("base"),
  WHISPER_MODELS: z.string().default(""),
  /** How long a speech model stays in memory after its last use. */
  WHISPER_IDLE_SECONDS: count.default(600),
  /** Whether tools may be given a network: by the runner's proxy, or not at all. */
  RUNNER_NETWORK: z.enum(["proxy", "none"]).default("proxy"),
  /** Hosts (`host` or `host:port`) that may be fetched from though they are not public. */
  ALLOWED_PRIVATE_HOSTS: z.string().default("").transform(readHosts),
  /** The proxy that fetches go through: an http URL, with user and password where it wants them. */
  FETCH_PROXY: z
    .string()
    .default("")
    .refine(
      (text) => text === "" || URL.parse(text)?.protocol === "http:",
      "expected an http:// URL",
    )
    .transform((text) => (text === "" ? null : new URL(text))),
  /** Sites that may be fetched from, with their subdomains; none: all. */
  FETCH_SITES: z.string().default("").transform(readSites),
  /** The yt-dlp to use instead of the built-in one: its version, and the SHA-256 of its wheel. */
  YTDLP_VERSION: z.string().default(""),
  /** Cookies of the operator in Netscape's format, for fetches whose caller sends none. */
  FETCH_COOKIES: z.string().default(""),
  /** Limits of one tool; see ToolLimits. */
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
  /** How long a task waits for room that the end of no other task would give it. */
  DISK_WAIT_SECONDS_MAX: count.default(600),
  /** Further files and folders that tools may read, separated by colons. */
  SANDBOX_READ_PATHS: z
    .string()
    .default("")
    .transform((text) => text.split(":").filter((path) => path !== "")),
  /** How long running tasks may go on after a SIGTERM, in seconds, before they are interrupted. */
  DRAIN_SECONDS_MAX: countOrNone.default(0),
  /** First of the user ids that tools run as where the runner is root, and the range is not another's. */
  SANDBOX_FIRST_UID: count.default(20_001),
  /** Lets tools run without a sandbox where the system supports none. */
  ALLOW_UNSANDBOXED: z.enum(["", "0", "1"]).default(""),
  /** After so many failed self-tests the runner ends itself; none: it goes on testing. */
  SELF_TESTS_MAX: count.optional(),
  /** A UNIX socket of the Worker on the same machine, by which large bytes go to it. */
  IO_SOCKET: z.string().min(1).optional(),
  /** Where the runner announces that it started, and the token for it. */
  ANNOUNCE_URL: z.url().optional(),
  ANNOUNCE_TOKEN: z.string().optional(),
})

export type Environment = z.infer<typeof environment>

/** Settings of a runner; `boot` identifies this process to the Worker. */
export type RunnerSettings = {
  boot: string
  /** Bearer token that callers must send; null where none is needed. */
  token: string | null
  /** The socket by which large bytes go to the Worker; null: they go where all else goes. */
  ioSocket: string | null
  capacity: number
  /** Sandboxes that are prepared for each pool before its tasks come. */
  placesMax: number
  workDir: string
  toolPaths: Record<ToolName | "fetch-ffmpeg", string>
  /** What YTDLP_VERSION asks for, or what is wrong with it; null: the built-in version. */
  ytdlpVersion: YtdlpVersion | { problem: string } | null
  /** The speech models; `defaultModel` is a name, or the path of a folder. */
  speech: { modelsPath: string; defaultModel: string; models: SpeechModels; idleMs: number }
  /** Cookies for fetches whose caller sends none; never shown, and in no log. */
  fetchCookies: string | null
  outputPartBytes: number
  /** How long a transfer from or to the Worker may move no byte, in milliseconds. */
  transferIdleMs: number
  limits: ToolLimits
  /** What fetches may reach, and by which proxy. */
  egress: { allowedHosts: string[]; proxy: URL | null; sites: string[] }
  /** Running tasks may go on so long after a SIGTERM. */
  drainMs: number
  /** A task waits so long for room that the end of no other task would give it. */
  diskWaitMs: number
  sandboxReadPaths: string[]
  sandboxFirstUid: number
  allowUnsandboxed: boolean
  /** Whether tools may be given a network. */
  hasNetwork: boolean
  /** Self-tests of the sandbox that may fail before the runner ends itself. */
  selfTestsMax: number
}

/** Parses a process's environment; throws a ZodError that names what is wrong. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  return environment.parse(env)
}

/** Makes the settings of a new runner process. */
export function makeSettings(values: Environment): RunnerSettings {
  return {
    boot: crypto.randomUUID(),
    token: values.RUNNER_TOKEN ?? null,
    ioSocket: values.IO_SOCKET ?? null,
    capacity: values.RUNNER_CAPACITY,
    placesMax: values.RUNNER_PLACES_MAX ?? Math.min(values.RUNNER_CAPACITY, PLACES_MAX),
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
      models: readSpeechModels(values),
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

/** Why a runner must not listen on a host, as a sentence; null where it may. */
export function problemOfHost(host: string, token: string | null): string | null {
  if (token !== null || isLoopback(host)) return null
  return (
    `RUNNER_HOST is "${host}", which others reach, and RUNNER_TOKEN is not set: ` +
    "set RUNNER_TOKEN to at least 32 random characters, or RUNNER_HOST to 127.0.0.1."
  )
}

/** A runner whose operator mistyped it goes on with the built-in version, and its health says so. */
function readYtdlpVersion(text: string): RunnerSettings["ytdlpVersion"] {
  if (text.trim() === "") return null
  const { data, error } = ytdlpVersion.safeParse(text)
  return data ?? { problem: `YTDLP_VERSION: ${error?.issues[0]?.message}` }
}

function makeLimits(values: Environment): ToolLimits {
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
