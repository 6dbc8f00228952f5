import { spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { SPEECH_MODELS_PATH, SPEECH_PYTHON_PATH } from "../setup/speech.ts"
import { FETCH_PYTHON_PATH } from "../setup/yt-dlp.ts"
import { BUNDLE_PATHS } from "./bundles.ts"
import { pickEnvironmentVariables } from "../cli/environment.ts"
import { log } from "./log.ts"
import { findMediaTools } from "../cli/media-tools.ts"
import { wrapToDieWithParent } from "../cli/parent-death.ts"

const KILL_AFTER_MS = 10_000
const QUICK_DEATH_MS = 5000
const RESTART_DELAY_MIN_MS = 200
const RESTART_DELAY_MAX_MS = 5000

/**
 * Environment variables that the start script passes to the runner. The runner gets no other
 * variables of this process.
 */
export const RUNNER_VARIABLES = [
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
  // Settings of pip, which installs the version YTDLP_VERSION.
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

/**
 * Option of Node.js that limits V8's young generation. A small limit suffices, because the buffers
 * of data that pass through the runner are outside V8's heap.
 */
const YOUNG_SPACE = "--max-semi-space-size=2"

export type RunnerOptions = {
  port: number
  /** Token that requests to the runner must carry. A restarted runner has the same token. */
  token: string
  capacity: number
  /** Folder of the workspaces of tasks. */
  workDir: string
  /**
   * UNIX socket on which the Worker listens for the runner alone, without the checks that requests
   * from API clients get. Null if the runner sends its requests to the public address.
   */
  ioSocket: string | null
  /** URL at which the runner announces its start, and the token for that URL. */
  announce: { url: string; token: string }
}

/**
 * Starts the bundled runner (container/main.ts), and restarts the runner whenever it ends, until
 * the disposal.
 */
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
    const message = `The runner ended (${how}) and is restarted.`
    log("error", "runner.restarted", { message })
    await sleep(computeRestartDelayMs(quickDeaths), undefined, { signal }).catch(() => undefined)
  }
}

/**
 * Returns the wait before a restart, in milliseconds, after this number of consecutive runners that
 * died soon after their start.
 */
export function computeRestartDelayMs(quickDeaths: number): number {
  if (quickDeaths <= 1) return 0
  return Math.min(RESTART_DELAY_MAX_MS, RESTART_DELAY_MIN_MS * 2 ** (quickDeaths - 2))
}

async function runOnce(options: RunnerOptions, signal: AbortSignal): Promise<string> {
  const [program, ...words] = wrapToDieWithParent([
    process.execPath,
    YOUNG_SPACE,
    BUNDLE_PATHS.runner,
  ])
  // Starts the runner in its own process group. Ctrl-C in the terminal then does not reach the
  // runner, and the start script stops its parts in order.
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
  const { ffmpeg, ffprobe, fetchFfmpeg } = findMediaTools()
  return {
    ...pickEnvironmentVariables(process.env, RUNNER_VARIABLES),
    FFMPEG_PATH: ffmpeg,
    FFPROBE_PATH: ffprobe,
    FETCH_FFMPEG_PATH: fetchFfmpeg,
    FETCH_PYTHON_PATH,
    SPEECH_PYTHON_PATH,
    SPEECH_MODELS_PATH,
    NODE_COMPILE_CACHE: BUNDLE_PATHS.compiled,
    // Limits the number of glibc's memory arenas, because each arena keeps freed memory.
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
