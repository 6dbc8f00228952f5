import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import { OUTPUT_PART_BYTES, RUNNER_TOKEN_CHARACTERS_MIN } from "../src/contract/protocol.ts"
import { DEFAULT_LIMITS } from "./sandbox/limits.ts"
import type { Limits } from "./sandbox/limits.ts"

const port = z.coerce.number().int().min(0).max(65_535)
const count = z.coerce.number().int().positive()

const environment = z.object({
  RUNNER_PORT: port.default(8788),
  RUNNER_HOST: z.string().min(1).default("127.0.0.1"),
  /** What whoever asks this runner has to send; it may be absent on a loopback address only. */
  RUNNER_TOKEN: z.string().min(RUNNER_TOKEN_CHARACTERS_MIN).optional(),
  RUNNER_CAPACITY: count.default(availableParallelism()),
  WORK_DIR: z.string().min(1).default(join(tmpdir(), "lathe-work")),
  FFMPEG_PATH: z.string().min(1).default("ffmpeg"),
  FFPROBE_PATH: z.string().min(1).default("ffprobe"),
  /** What one tool may use; see container/sandbox/limits.ts. */
  TOOL_MEMORY_BYTES_MAX: count.default(DEFAULT_LIMITS.memoryBytes),
  TOOL_FILE_BYTES_MAX: count.default(DEFAULT_LIMITS.fileBytes),
  TOOL_CPU_SECONDS_MAX: count.optional(),
  TOOL_OPEN_FILES_MAX: count.default(DEFAULT_LIMITS.openFiles),
  TOOL_THREADS_MAX: count.default(DEFAULT_LIMITS.threads),
  TOOL_LOG_BYTES_MAX: count.default(DEFAULT_LIMITS.logBytes),
  WORKSPACE_BYTES_MAX: count.default(DEFAULT_LIMITS.workspaceBytes),
  WORKSPACE_FILES_MAX: count.default(DEFAULT_LIMITS.workspaceFiles),
  /** Files and folders, by colons, that tools may read beside those of the system. */
  SANDBOX_READ_PATHS: z
    .string()
    .default("")
    .transform((text) => text.split(":").filter((path) => path !== "")),
  /** Users from here on are the tools' where the runner is root. */
  SANDBOX_FIRST_UID: count.default(20_001),
  /** Lets tools run with no sandbox where the system has none. */
  ALLOW_UNSANDBOXED: z.enum(["", "0", "1"]).default(""),
  HELLO_URL: z.url().optional(),
  HELLO_TOKEN: z.string().optional(),
})

export type Environment = z.infer<typeof environment>

/** What a runner needs to do tasks; `boot` names this process to the Worker. */
export type RunnerSettings = {
  boot: string
  /** What whoever asks has to send; null where everybody on the machine may ask. */
  token: string | null
  capacity: number
  workDir: string
  ffmpegPath: string
  ffprobePath: string
  outputPartBytes: number
  limits: Limits
  sandboxReadPaths: string[]
  sandboxFirstUid: number
  allowUnsandboxed: boolean
}

/** The settings of a process's environment; throws a ZodError that names what is wrong. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  return environment.parse(env)
}

/** Settings of a runner whose life begins now. */
export function makeSettings(values: Environment): RunnerSettings {
  return {
    boot: crypto.randomUUID(),
    token: values.RUNNER_TOKEN ?? null,
    capacity: values.RUNNER_CAPACITY,
    workDir: values.WORK_DIR,
    ffmpegPath: values.FFMPEG_PATH,
    ffprobePath: values.FFPROBE_PATH,
    outputPartBytes: OUTPUT_PART_BYTES,
    limits: makeLimits(values),
    sandboxReadPaths: values.SANDBOX_READ_PATHS,
    sandboxFirstUid: values.SANDBOX_FIRST_UID,
    allowUnsandboxed: values.ALLOW_UNSANDBOXED === "1",
  }
}

function makeLimits(values: Environment): Limits {
  return {
    memoryBytes: values.TOOL_MEMORY_BYTES_MAX,
    fileBytes: values.TOOL_FILE_BYTES_MAX,
    cpuSeconds: values.TOOL_CPU_SECONDS_MAX ?? null,
    openFiles: values.TOOL_OPEN_FILES_MAX,
    threads: values.TOOL_THREADS_MAX,
    logBytes: values.TOOL_LOG_BYTES_MAX,
    workspaceBytes: values.WORKSPACE_BYTES_MAX,
    workspaceFiles: values.WORKSPACE_FILES_MAX,
  }
}
