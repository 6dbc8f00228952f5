import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"

/** Why a process ended other than by itself; the first cause counts. */
export type EndCause = "time_limit" | "aborted" | "spawn_failed"

export type ProcessOrder = {
  tool: string
  argv: readonly string[]
  /** The workspace: working folder, home and temporary folder of the process. */
  cwd: string
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

/** From SIGTERM to SIGKILL; what an aborted run leaves is worth nothing, so it gets less. */
const GRACE_MS = { time_limit: 2000, aborted: 1000 }

/** The longest time that a timer takes. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Where it is there, it ends a process with its parent, also where that is killed without a word. */
const LAUNCHER: readonly [string, ...string[]] | readonly [] = existsSync("/usr/bin/setpriv")
  ? ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"]
  : []

/** How the launcher says that the tool is not there. */
const NOT_FOUND = { exitCode: 127, pattern: /^setpriv: failed to execute/m }

const running = new Set<ChildProcess>()

// A process group of its own would outlive this process, however that ends.
process.on("exit", () => {
  for (const child of running) killGroup(child, "SIGKILL")
})

/**
 * The one door to start a process. It leads a process group of its own with a bare environment;
 * the whole group is ended with it, at its time limit, or when the signal aborts.
 */
export function startProcess(order: ProcessOrder): StartedProcess {
  const startedMs = performance.now()
  const [tool, ...argv] = [...LAUNCHER, order.tool, ...order.argv]
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
  if (order.onStderrLine) eachLine(child.stderr, order.onStderrLine)
  if (order.onProgressLine) eachLine(child.stdio[3], order.onProgressLine)
  async function finish(): Promise<ProcessEnd> {
    const error = await closed(child)
    running.delete(child)
    const isMissing = child.exitCode === NOT_FOUND.exitCode && NOT_FOUND.pattern.test(stderr())
    const spawnError = isMissing ? stderr().trim() : error
    return {
      exitCode: spawnError === null ? child.exitCode : null,
      signal: child.signalCode,
      cause: spawnError === null ? ending.stop() : "spawn_failed",
      spawnError,
      stderrTail: stderr(),
      stdout: stdout(),
      wallMs: performance.now() - startedMs,
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

function endInTime(child: ChildProcess, order: ProcessOrder): { stop: () => EndCause | null } {
  let cause: "time_limit" | "aborted" | null = null
  let graceTimer: NodeJS.Timeout | undefined
  function end(because: "time_limit" | "aborted"): void {
    if (cause !== null) return
    cause = because
    killGroup(child, "SIGTERM")
    graceTimer = setTimeout(() => killGroup(child, "SIGKILL"), GRACE_MS[because])
  }
  function onAbort(): void {
    end("aborted")
  }
  const limitTimer = setTimeout(() => end("time_limit"), Math.min(order.timeLimitMs, TIMER_MS_MAX))
  function stop(): EndCause | null {
    clearTimeout(limitTimer)
    clearTimeout(graceTimer)
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
    chunks.push(kept)
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

function eachLine(stream: unknown, onLine: (line: string) => void): void {
  if (isReadable(stream)) createInterface({ input: stream }).on("line", onLine)
}

function isReadable(stream: unknown): stream is Readable {
  return typeof stream === "object" && stream !== null && "read" in stream
}
