import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { availableParallelism, constants } from "node:os"
import type { Readable } from "node:stream"
import { eachLine } from "./lines.ts"
import { launchWords, readLaunchFailure } from "./sandbox/launch.ts"
import { cpuSecondsOf } from "./sandbox/limits.ts"
import type { FolderAccess, Jail, Tier } from "./sandbox/sandbox.ts"
import { holdsMore, watchUsage } from "./sandbox/watch.ts"

/** Why we end a process. */
type Cut = "time_limit" | "aborted" | "disk_limit" | "output_limit"

/** Why a process ended other than by itself; the first cause counts. */
export type EndCause = Cut | "spawn_failed" | "cpu_limit" | "file_limit"

export type ProcessOrder = {
  jail: Jail
  tool: string
  argv: readonly string[]
  /** The workspace: working and temporary folder of the process. */
  cwd: string
  /** What the process may do with it; of one that writes, the folder is kept within its limits. */
  access: FolderAccess
  /** What the workspace holds that no tool has written. */
  inputBytes?: number
  timeLimitMs: number
  signal: AbortSignal
  /** How much of stdout is kept; without it stdout goes nowhere. */
  stdoutBytesMax?: number
  onStderrLine?: (line: string) => void
  /** Lines of file descriptor 3, which the process has only with this. */
  onProgressLine?: (line: string) => void
}

export type ProcessEnd = {
  exitCode: number | null
  signal: NodeJS.Signals | null
  cause: EndCause | null
  /** Why it could not be started. */
  spawnError: string | null
  stderrTail: string
  stdout: string
  wallMs: number
}

export type StartedProcess = { pid: number | null; finished: Promise<ProcessEnd> }

const STDERR_TAIL_BYTES = 64 * 1024

/** From SIGTERM to SIGKILL; what an aborted run leaves is worth nothing, what fills a disk less. */
const GRACE_MS: Record<Cut, number> = {
  time_limit: 2000,
  aborted: 1000,
  disk_limit: 0,
  output_limit: 0,
}

const PROGRESS_FD = 3

/** The longest time that a timer takes. */
const TIMER_MS_MAX = 2 ** 31 - 1

const running = new Set<ChildProcess>()

// A process group of its own would outlive this process, however that ends.
process.on("exit", () => {
  for (const child of running) killGroup(child, "SIGKILL")
})

/**
 * The one door to start a process. It runs in its jail and leads a process group of its own with a
 * bare environment; the whole group is ended with it, at a limit, or when the signal aborts.
 */
export function startProcess(order: ProcessOrder): StartedProcess {
  const startedMs = performance.now()
  const keptFd = order.onProgressLine ? PROGRESS_FD : undefined
  const [tool, ...argv] = launchWords({ ...order, keptFd })
  const child = spawn(tool, argv, {
    cwd: order.cwd,
    detached: true,
    env: environmentIn(order.cwd),
    stdio: [
      "ignore",
      order.stdoutBytesMax === undefined ? "ignore" : "pipe",
      "pipe",
      order.onProgressLine ? "pipe" : "ignore",
    ],
  })
  running.add(child)
  const ending = endInTime(child, order)
  const stdout = keepHead(child.stdout, order.stdoutBytesMax ?? 0)
  const stderr = keepTail(child.stderr, STDERR_TAIL_BYTES)
  const progress = child.stdio[PROGRESS_FD]
  if (child.stderr && order.onStderrLine) eachLine(child.stderr, order.onStderrLine)
  if (isReadable(progress) && order.onProgressLine) eachLine(progress, order.onProgressLine)
  async function finish(): Promise<ProcessEnd> {
    const error = await closed(child)
    running.delete(child)
    const spawnError = readLaunchFailure(child.exitCode, stderr()) ?? error
    const { exitCode, signal } = readEnd(child, order.jail.sandbox.tier)
    const wallMs = performance.now() - startedMs
    const limit = ending.stop() ?? limitOf({ exitCode, signal, wallMs }, order)
    const cause = limit ?? (await leftTooMuch(order))
    return {
      exitCode: spawnError === null ? exitCode : null,
      signal,
      cause: spawnError === null ? cause : "spawn_failed",
      spawnError,
      stderrTail: stderr(),
      stdout: stdout(),
      wallMs,
    }
  }
  return { pid: child.pid ?? null, finished: finish() }
}

function environmentIn(workspace: string): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], LANG: "C.UTF-8", HOME: workspace, TMPDIR: workspace }
}

/** Resolves when the process and its pipes are gone, with the reason where it never began. */
async function closed(child: ChildProcess): Promise<string | null> {
  try {
    await once(child, "close")
    return null
  } catch (error) {
    return String(error)
  }
}

function endInTime(child: ChildProcess, order: ProcessOrder): { stop: () => Cut | null } {
  let cause: Cut | null = null
  let graceTimer: NodeJS.Timeout | undefined
  function end(because: Cut): void {
    if (cause !== null) return
    cause = because
    killGroup(child, GRACE_MS[because] > 0 ? "SIGTERM" : "SIGKILL")
    graceTimer = setTimeout(() => killGroup(child, "SIGKILL"), GRACE_MS[because])
  }
  function onAbort(): void {
    end("aborted")
  }
  const limitTimer = setTimeout(() => end("time_limit"), Math.min(order.timeLimitMs, TIMER_MS_MAX))
  const watch = watchWorkspace(child, order, () => end("disk_limit"))
  countBytes(child, order.jail.sandbox.limits.logBytes, () => end("output_limit"))
  function stop(): Cut | null {
    clearTimeout(limitTimer)
    clearTimeout(graceTimer)
    watch?.stop()
    order.signal.removeEventListener("abort", onAbort)
    return cause
  }
  order.signal.addEventListener("abort", onAbort)
  if (order.signal.aborted) onAbort()
  // What the process left behind in its group would keep its pipes open.
  child.once("exit", () => {
    stop()
    killGroup(child, "SIGKILL")
  })
  child.once("error", stop)
  return { stop }
}

function watchWorkspace({ pid }: ChildProcess, order: ProcessOrder, onExceeded: () => void) {
  const place = { folder: order.cwd, pid }
  return order.access === "write" ? watchUsage(place, usageMax(order), onExceeded) : null
}

/** What a process that ended between two looks at its workspace left there. */
async function leftTooMuch(order: ProcessOrder): Promise<Cut | null> {
  if (order.access !== "write") return null
  return (await holdsMore(order.cwd, usageMax(order))) ? "disk_limit" : null
}

function usageMax({ jail, inputBytes = 0 }: ProcessOrder) {
  const { workspaceBytes, workspaceFiles } = jail.sandbox.limits
  return { bytes: workspaceBytes + inputBytes, files: workspaceFiles }
}

function countBytes({ stdio }: ChildProcess, most: number, onExceeded: () => void): void {
  let bytes = 0
  for (const stream of stdio.filter(isReadable)) {
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > most) onExceeded()
    })
  }
}

/** How the tool itself ended; bubblewrap says a signal as a shell does, by a high exit code. */
function readEnd({ exitCode, signalCode: signal }: ChildProcess, tier: Tier) {
  const number = (exitCode ?? 0) - 128
  const told = Object.keys(constants.signals)
    .filter(isSignal)
    .find((name) => constants.signals[name] === number)
  return tier === "namespaces" && told ? { exitCode: null, signal: told } : { exitCode, signal }
}

function isSignal(name: string): name is NodeJS.Signals {
  return name in constants.signals
}

/**
 * The limit that the kernel ended a process at. ffmpeg takes that of the processor as a wish to
 * end, and says 255; only one that ran long enough can have come to it.
 */
function limitOf(end: Pick<ProcessEnd, "exitCode" | "signal" | "wallMs">, order: ProcessOrder) {
  if (end.signal === "SIGXFSZ") return "file_limit"
  if (end.signal === "SIGXCPU") return "cpu_limit"
  const cpuMs = cpuSecondsOf(order.jail.sandbox.limits, order.timeLimitMs) * 1000
  const wasLongEnough = end.wallMs * availableParallelism() >= cpuMs
  return end.exitCode === 255 && wasLongEnough ? "cpu_limit" : null
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group is gone already, which is what the caller wants.
  }
}

function keepHead(stream: Readable | null, bytesMax: number): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream?.on("data", (chunk: Buffer) => {
    const kept = chunk.subarray(0, bytesMax - bytes)
    bytes += kept.length
    // Even an empty part would keep its whole chunk in memory.
    if (kept.length > 0) chunks.push(kept)
  })
  return () => Buffer.concat(chunks).toString("utf8")
}

function keepTail(stream: Readable | null, bytesMax: number): () => string {
  let tail = Buffer.alloc(0)
  stream?.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-bytesMax)
  })
  return () => tail.toString("utf8")
}

function isReadable(stream: unknown): stream is Readable {
  return typeof stream === "object" && stream !== null && "read" in stream
}
