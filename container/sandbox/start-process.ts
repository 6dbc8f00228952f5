import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { availableParallelism, constants } from "node:os"
import { log } from "../log.ts"
import type { WorkspaceMeter } from "./workspace-meter.ts"
import {
  readStreamLines,
  isReadableStream,
  collectFirstStreamBytes,
  collectLastStreamBytes,
} from "./tool-output.ts"
import type { ToolProcessResult, ToolProcessSpec, StartedToolProcess } from "./tool-process.ts"
import {
  LAUNCHER_REPORT_FD,
  computeCpuLimitSeconds,
  toolLaunchArgv,
  buildLaunchOrderArgv,
  readSandboxStartFailure,
} from "./sandbox.ts"
import type { ToolLaunch, HeldProcess } from "./sandbox.ts"
import { usesNamespaces } from "./tiers/tier.ts"
import type { SandboxTier } from "./tiers/tier.ts"
import {
  killProcessGroupOnExit,
  unregisterProcessGroup,
  superviseProcess,
} from "./supervise-process.ts"
import { encodeLaunchOrder } from "./warm/held-process.ts"

const STDERR_TAIL_BYTES = 64 * 1024
const PROGRESS_FD = LAUNCHER_REPORT_FD

type ExitStatus = Pick<ToolProcessResult, "exitCode" | "signal">

/**
 * Starts a tool in its sandbox. The runner starts all its tools by this function. The tool has a
 * minimal environment and leads a process group. The whole group is killed when the tool exits,
 * exceeds a limit, or the signal aborts. If a process that was started ahead and waits in the warm
 * sandbox matches, the tool runs in that process instead of a new process.
 */
export function startToolProcess(spec: ToolProcessSpec): StartedToolProcess {
  const { networkProblem } = spec.taskSandbox.sandbox
  if (spec.network !== undefined && networkProblem !== null) return refuseStart(networkProblem)
  const held = takeHeldProcess(spec)
  if (held === null) return superviseToEnd(spec, spawnInSandbox(spec), null)
  const started = superviseToEnd(spec, held.child, held.meter)
  return { ...started, stdin: null, finished: restartIfLost(spec, held, started.finished) }
}

/**
 * Takes a waiting process that matches the launch out of the warm sandbox, and sends it the launch
 * order. Returns null if there is no such process.
 */
function takeHeldProcess(spec: ToolProcessSpec): HeldProcess | null {
  const { warmSandbox } = spec.taskSandbox
  if (!warmSandbox || spec.stdin !== undefined) return null
  const launch = launchOf(spec)
  const order = encodeLaunchOrder(buildLaunchOrderArgv(launch, readsStdout(spec)))
  const held = order === null ? null : warmSandbox.take(launch)
  if (order !== null) held?.sendOrder(order)
  return held
}

/**
 * Starts a tool in a new process, if the process that waited in the warm sandbox ended before the
 * tool had started. The kernel may kill a waiting process when memory is short.
 */
async function restartIfLost(
  spec: ToolProcessSpec,
  held: HeldProcess,
  finished: Promise<ToolProcessResult>,
): Promise<ToolProcessResult> {
  const end = await finished
  const isLost = end.cause === null || end.cause === "spawn_failed"
  if (held.hasStarted() || !isLost) return end
  log("warn", "sandbox.lost", {
    exit_code: end.exitCode,
    signal: end.signal,
    error: end.spawnError,
  })
  return await superviseToEnd(spec, spawnInSandbox(spec), null).finished
}

function superviseToEnd(
  spec: ToolProcessSpec,
  child: ChildProcess,
  meter: WorkspaceMeter | null,
): StartedToolProcess {
  const startedMs = performance.now()
  killProcessGroupOnExit(child)
  const supervision = superviseProcess(child, spec, meter)
  const stdout = collectFirstStreamBytes(child.stdout, spec.stdoutBytesMax ?? 0)
  const stderr = collectLastStreamBytes(child.stderr, STDERR_TAIL_BYTES)
  const progress = child.stdio[PROGRESS_FD]
  if (child.stdout && spec.onStdout) child.stdout.on("data", spec.onStdout)
  if (child.stderr && spec.onStderrLine) readStreamLines(child.stderr, spec.onStderrLine)
  if (isReadableStream(progress) && spec.onProgressLine)
    readStreamLines(progress, spec.onProgressLine)
  async function finish(): Promise<ToolProcessResult> {
    const error = await waitForClose(child)
    unregisterProcessGroup(child)
    const spawnError = readSandboxStartFailure(child.exitCode, stderr()) ?? error
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

function refuseStart(spawnError: string): StartedToolProcess {
  const nothing = { exitCode: null, signal: null, wasDiskFull: false, stderrTail: "", stdout: "" }
  const end: ToolProcessResult = { ...nothing, cause: "spawn_failed", spawnError, wallMs: 0 }
  return { pid: null, stdin: null, finished: Promise.resolve(end) }
}

function spawnInSandbox(spec: ToolProcessSpec): ChildProcess {
  const [program, ...argv] = toolLaunchArgv(launchOf(spec))
  const child = spawn(program, argv, {
    cwd: spec.cwd,
    detached: true,
    env: minimalEnvironment(spec.cwd),
    stdio: [
      spec.stdin === undefined ? "ignore" : "pipe",
      readsStdout(spec) ? "pipe" : "ignore",
      "pipe",
      spec.onProgressLine ? "pipe" : "ignore",
    ],
  })
  // Ignores errors of writes to standard input, since a tool may end before it has read its whole
  // input.
  child.stdin?.on("error", () => undefined)
  if (typeof spec.stdin === "string") child.stdin?.end(spec.stdin)
  return child
}

function readsStdout({ stdoutBytesMax, onStdout }: ToolProcessSpec): boolean {
  return stdoutBytesMax !== undefined || onStdout !== undefined
}

function launchOf(spec: ToolProcessSpec): ToolLaunch {
  return { ...spec, keptFd: spec.onProgressLine ? PROGRESS_FD : undefined }
}

function minimalEnvironment(workspace: string): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], LANG: "C.UTF-8", HOME: workspace, TMPDIR: workspace }
}

/**
 * Resolves when the process has ended and its pipes are closed. The result is null, or the error
 * message of a failed start.
 */
async function waitForClose(child: ChildProcess): Promise<string | null> {
  try {
    await once(child, "close")
    return null
  } catch (error) {
    return String(error)
  }
}

/**
 * Returns the exit status of the tool itself. If signal n ended the tool, bubblewrap exits with
 * code 128 + n.
 */
function readExitStatus(child: ChildProcess, tier: SandboxTier): ExitStatus {
  const { exitCode, signalCode: signal } = child
  const number = (exitCode ?? 0) - 128
  const reported = Object.keys(constants.signals)
    .filter(isSignal)
    .find((name) => constants.signals[name] === number)
  return usesNamespaces(tier) && reported
    ? { exitCode: null, signal: reported }
    : { exitCode, signal }
}

/**
 * Returns the resource limit that made the kernel end a process; null if the kernel ended the
 * process for another reason or not at all. ffmpeg handles SIGXCPU and exits with 255. An exit code
 * of 255 counts as the CPU limit only if the process ran long enough to use up its CPU time.
 */
function findKernelLimit(
  end: ExitStatus & Pick<ToolProcessResult, "wallMs">,
  spec: ToolProcessSpec,
): "file_limit" | "cpu_limit" | null {
  if (end.signal === "SIGXFSZ") return "file_limit"
  if (end.signal === "SIGXCPU") return "cpu_limit"
  const cpuMs = computeCpuLimitSeconds(spec.taskSandbox.sandbox.limits, spec.timeLimitMs) * 1000
  const wasLongEnough = end.wallMs * availableParallelism() >= cpuMs
  return end.exitCode === 255 && wasLongEnough ? "cpu_limit" : null
}

function isSignal(name: string): name is NodeJS.Signals {
  return name in constants.signals
}
