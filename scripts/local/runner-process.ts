import { spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { SPEECH_MODELS_PATH, SPEECH_PYTHON_PATH } from "../setup/speech.ts"
import { FETCH_PYTHON_PATH } from "../setup/yt-dlp.ts"
import { BUILT } from "./built.ts"
import { pickVariables } from "./environment.ts"
import { log } from "./log.ts"
import { mediaTools } from "./media-tools.ts"
import { diesWithParent } from "./parent-death.ts"

const KILL_AFTER_MS = 10_000
const QUICK_DEATH_MS = 5000
const RESTART_DELAY_MIN_MS = 200
const RESTART_DELAY_MAX_MS = 5000

/** Variables of this process that the runner sees too; no other one reaches it. */
export const PASSED_ON = [
  "PATH",
  "LOG_LEVEL",
  "RUNNER_PLACES_MAX",
  "TOOL_MEMORY_BYTES_MAX",
  "TOOL_RESIDENT_BYTES_MAX",
  "TOOL_FILE_BYTES_MAX",
  "TOOL_CPU_SECONDS_MAX",
  "TOOL_OPEN_FILES_MAX",
  "TOOL_THREADS_MAX",
  "TOOL_LOG_BYTES_MAX",
  "WORKSPACE_BYTES_MAX",
  "WORKSPACE_FILES_MAX",
  "DISK_RESERVE_BYTES",
  "DISK_WAIT_SECONDS_MAX",
  "SANDBOX_READ_PATHS",
  "SANDBOX_FIRST_UID",
  "ALLOW_UNSANDBOXED",
  "ALLOWED_PRIVATE_HOSTS",
  "FETCH_PROXY",
  "FETCH_SITES",
  "FETCH_COOKIES",
  "FETCH_PYTHON_PATH",
  "YTDLP_VERSION",
  "WHISPER_MODEL",
  "WHISPER_MODELS",
  "WHISPER_IDLE_SECONDS",
  // Where pip takes that version from.
  "PIP_INDEX_URL",
  "PIP_EXTRA_INDEX_URL",
  "PIP_FIND_LINKS",
  "PIP_CONFIG_FILE",
  "PIP_CERT",
  "SSL_CERT_FILE",
  "HTTPS_PROXY",
  "https_proxy",
  "NO_PROXY",
  "no_proxy",
]

/** What passes through the runner lies outside of the heap, whose young part may stay small. */
const YOUNG_SPACE = "--max-semi-space-size=2"

export type RunnerOptions = {
  port: number
  /** What the runner, also one that is started again, wants to hear from whoever asks it. */
  token: string
  capacity: number
  /** Where tasks have their workspaces. */
  workDir: string
  /** The Worker's socket, by which the runner passes no front; null: the runner passes it. */
  ioSocket: string | null
  /** Where the runner says that it came up, and the token that it says it with. */
  announce: { url: string; token: string }
}

/** Keeps the runner, container/main.ts as set-up bundles it, running until it is disposed of. */
export function startRunner(options: RunnerOptions): AsyncDisposable {
  const stopping = new AbortController()
  const ended = keepRunning(options, stopping.signal)
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await ended
    },
  }
}

async function keepRunning(options: RunnerOptions, signal: AbortSignal): Promise<void> {
  let quickDeaths = 0
  while (!signal.aborted) {
    const bornAt = Date.now()
    const how = await runOnce(options, signal)
    if (signal.aborted) return
    quickDeaths = Date.now() - bornAt < QUICK_DEATH_MS ? quickDeaths + 1 : 0
    const message = `The runner ended (${how}) and is started again.`
    log("error", "runner.restarted", { message })
    await sleep(restartDelayMs(quickDeaths), undefined, { signal }).catch(() => undefined)
  }
}

/** How long to wait after so many runners in a row that died soon after their start. */
export function restartDelayMs(quickDeaths: number): number {
  if (quickDeaths <= 1) return 0
  return Math.min(RESTART_DELAY_MAX_MS, RESTART_DELAY_MIN_MS * 2 ** (quickDeaths - 2))
}

async function runOnce(options: RunnerOptions, signal: AbortSignal): Promise<string> {
  const [program, ...words] = diesWithParent([process.execPath, YOUNG_SPACE, BUILT.runner])
  // A process group of its own spares the runner the terminal's Ctrl-C: it is stopped in order.
  const child = spawn(program, words, {
    env: runnerEnvironment(options),
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  })
  signal.addEventListener("abort", stop, { once: true })
  try {
    await once(child, "exit")
    return child.signalCode ?? `exit code ${child.exitCode}`
  } catch (error) {
    return String(error)
  } finally {
    signal.removeEventListener("abort", stop)
  }

  function stop() {
    child.kill("SIGTERM")
    setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS).unref()
  }
}

function runnerEnvironment(options: RunnerOptions): Record<string, string> {
  const { ffmpeg, ffprobe, fetchFfmpeg } = mediaTools()
  return {
    ...pickVariables(process.env, PASSED_ON),
    FFMPEG_PATH: ffmpeg,
    FFPROBE_PATH: ffprobe,
    FETCH_FFMPEG_PATH: fetchFfmpeg,
    FETCH_PYTHON_PATH,
    SPEECH_PYTHON_PATH,
    SPEECH_MODELS_PATH,
    NODE_COMPILE_CACHE: BUILT.compiled,
    // Each arena of glibc keeps what was freed in it, and imports free much.
    MALLOC_ARENA_MAX: "2",
    RUNNER_PORT: String(options.port),
    RUNNER_TOKEN: options.token,
    RUNNER_CAPACITY: String(options.capacity),
    WORK_DIR: options.workDir,
    ...(options.ioSocket !== null && { IO_SOCKET: options.ioSocket }),
    ANNOUNCE_URL: options.announce.url,
    ANNOUNCE_TOKEN: options.announce.token,
  }
}
