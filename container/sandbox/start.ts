import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { availableParallelism, constants } from "node:os"
import { log } from "../log.ts"
import type { Meter } from "./meter.ts"
import { eachLine, isReadable, keepHead, keepTail } from "./output.ts"
import type { ProcessEnd, ProcessSpec, StartedProcess } from "./process.ts"
import { REPORT_FD, cpuSecondsOf, launchArgv, orderWords, readLaunchFailure } from "./sandbox.ts"
import type { Launch, WaitingSandbox } from "./sandbox.ts"
import { hasNamespaces } from "./tier.ts"
import type { Tier } from "./tier.ts"
import { trackGroup, untrackGroup, superviseProcess } from "./termination.ts"
import { encodeOrder } from "./waiting.ts"

const STDERR_TAIL_BYTES = 64 * 1024
const PROGRESS_FD = REPORT_FD

type ExitStatus = Pick<ProcessEnd, "exitCode" | "signal">

/**
 * Starts a tool; every tool of the runner is started here. It runs in its sandbox with a minimal
 * environment and leads a process group, which is killed as a whole when the tool exits, at a
 * limit, or when the signal aborts. Where a sandbox waits for it, that is used.
 */
export function startProcess(spec: ProcessSpec): StartedProcess {
  const { networkProblem } = spec.taskSandbox.sandbox
  if (spec.network !== undefined && networkProblem !== null) return refuseStart(networkProblem)
  const waiting = takeWaiting(spec)
  if (waiting === null) return follow(spec, spawnInSandbox(spec), null)
  const started = follow(spec, waiting.child, waiting.meter)
  return { ...started, stdin: null, finished: replaceLost(spec, waiting, started.finished) }
}

/** Gives the order to a sandbox that waits for such a launch; null where there is none. */
function takeWaiting(spec: ProcessSpec): WaitingSandbox | null {
  const { place } = spec.taskSandbox
  if (!place || spec.stdin !== undefined) return null
  const launch = launchOf(spec)
  const order = encodeOrder(orderWords(launch, spec.stdoutBytesMax !== undefined))
  const waiting = order === null ? null : place.take(launch)
  if (order !== null) waiting?.give(order)
  return waiting
}

/** Somebody may end a sandbox that waits, as the kernel does where memory is short. */
async function replaceLost(
  spec: ProcessSpec,
  waiting: WaitingSandbox,
  finished: Promise<ProcessEnd>,
): Promise<ProcessEnd> {
  const end = await finished
  const isLost = end.cause === null || end.cause === "spawn_failed"
  if (waiting.hasBegun() || !isLost) return end
  log("warn", "sandbox.lost", {
    exit_code: end.exitCode,
    signal: end.signal,
    error: end.spawnError,
  })
  return await follow(spec, spawnInSandbox(spec), null).finished
}

function follow(spec: ProcessSpec, child: ChildProcess, meter: Meter | null): StartedProcess {
  const startedMs = performance.now()
  trackGroup(child)
  const supervision = superviseProcess(child, spec, meter)
  const stdout = keepHead(child.stdout, spec.stdoutBytesMax ?? 0)
  const stderr = keepTail(child.stderr, STDERR_TAIL_BYTES)
  const progress = child.stdio[PROGRESS_FD]
  if (child.stderr && spec.onStderrLine) eachLine(child.stderr, spec.onStderrLine)
  if (isReadable(progress) && spec.onProgressLine) eachLine(progress, spec.onProgressLine)
  async function finish(): Promise<ProcessEnd> {
    const error = await waitForClose(child)
    untrackGroup(child)
    const spawnError = readLaunchFailure(child.exitCode, stderr()) ?? error
    const { exitCode, signal } = readExitStatus(child, spec.taskSandbox.sandbox.tier)
    const wallMs = performance.now() - startedMs
    const limit = supervision.stop() ?? findKernelLimit({ exitCode, signal, wallMs }, spec)
    const limitAtEnd = await supervision.end()
    const cause = limit ?? limitAtEnd
    const wasDiskFull = supervision.wasDiskFull()
    return {
      exitCode: spawnError === null ? exitCode : null,
      signal,
      cause: spawnError === null ? cause : "spawn_failed",
      spawnError,
      wasDiskFull,
      stderrTail: stderr(),
      stdout: stdout(),
      wallMs,
    }
  }
  return { pid: child.pid ?? null, stdin: child.stdin, finished: finish() }
}

function refuseStart(spawnError: string): StartedProcess {
  const nothing = { exitCode: null, signal: null, wasDiskFull: false, stderrTail: "", stdout: "" }
  const end: ProcessEnd = { ...nothing, cause: "spawn_failed", spawnError, wallMs: 0 }
  return { pid: null, stdin: null, finished: Promise.resolve(end) }
}

function spawnInSandbox(spec: ProcessSpec): ChildProcess {
  const [program, ...argv] = launchArgv(launchOf(spec))
  const child = spawn(program, argv, {
    cwd: spec.cwd,
    detached: true,
    env: minimalEnvironment(spec.cwd),
    stdio: [
      spec.stdin === undefined ? "ignore" : "pipe",
      spec.stdoutBytesMax === undefined ? "ignore" : "pipe",
      "pipe",
      spec.onProgressLine ? "pipe" : "ignore",
    ],
  })
  // A tool may end before it has read all of it.
  child.stdin?.on("error", () => undefined)
  if (typeof spec.stdin === "string") child.stdin?.end(spec.stdin)
  return child
}

function launchOf(spec: ProcessSpec): Launch {
  return { ...spec, keptFd: spec.onProgressLine ? PROGRESS_FD : undefined }
}

function minimalEnvironment(workspace: string): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], LANG: "C.UTF-8", HOME: workspace, TMPDIR: workspace }
}

/** Resolves when the process and its pipes are closed, with the error where it did not start. */
async function waitForClose(child: ChildProcess): Promise<string | null> {
  try {
    await once(child, "close")
    return null
  } catch (error) {
    return String(error)
  }
}

/** How the tool itself ended; bubblewrap reports a signal as a shell does, by exit code 128 + n. */
function readExitStatus(child: ChildProcess, tier: Tier): ExitStatus {
  const { exitCode, signalCode: signal } = child
  const number = (exitCode ?? 0) - 128
  const reported = Object.keys(constants.signals)
    .filter(isSignal)
    .find((name) => constants.signals[name] === number)
  return hasNamespaces(tier) && reported
    ? { exitCode: null, signal: reported }
    : { exitCode, signal }
}

/**
 * The resource limit at which the kernel ended a process. ffmpeg handles SIGXCPU by exiting with
 * 255, which counts only where the process ran long enough to use that much processor time.
 */
function findKernelLimit(
  end: ExitStatus & Pick<ProcessEnd, "wallMs">,
  spec: ProcessSpec,
): "file_limit" | "cpu_limit" | null {
  if (end.signal === "SIGXFSZ") return "file_limit"
  if (end.signal === "SIGXCPU") return "cpu_limit"
  const cpuMs = cpuSecondsOf(spec.taskSandbox.sandbox.limits, spec.timeLimitMs) * 1000
  const wasLongEnough = end.wallMs * availableParallelism() >= cpuMs
  return end.exitCode === 255 && wasLongEnough ? "cpu_limit" : null
}

function isSignal(name: string): name is NodeJS.Signals {
  return name in constants.signals
}
