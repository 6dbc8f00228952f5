import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { availableParallelism, constants } from "node:os"
import { eachLine, isReadable, keepHead, keepTail } from "./output.ts"
import type { ProcessEnd, ProcessSpec, StartedProcess } from "./process.ts"
import { cpuSecondsOf, launchArgv, readLaunchFailure } from "./sandbox.ts"
import type { Tier } from "./sandbox.ts"
import { trackGroup, untrackGroup, superviseProcess } from "./termination.ts"

const STDERR_TAIL_BYTES = 64 * 1024
const PROGRESS_FD = 3

type ExitStatus = Pick<ProcessEnd, "exitCode" | "signal">

/**
 * Starts a tool; every tool of the runner is started here. It runs in its sandbox with a minimal
 * environment and leads a process group, which is killed as a whole when the tool exits, at a
 * limit, or when the signal aborts.
 */
export function startProcess(spec: ProcessSpec): StartedProcess {
  const { networkProblem } = spec.taskSandbox.sandbox
  if (spec.network !== undefined && networkProblem !== null) return refuseStart(networkProblem)
  const startedMs = performance.now()
  const child = spawnInSandbox(spec)
  trackGroup(child)
  const supervision = superviseProcess(child, spec)
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
    const wasDiskFull = await supervision.wasDiskFull()
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
  const keptFd = spec.onProgressLine ? PROGRESS_FD : undefined
  const [program, ...argv] = launchArgv({ ...spec, keptFd })
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
  return tier === "namespaces" && reported
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
