import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { readProcessTree } from "./memory.ts"

const SAMPLE_MS = 100

/**
 * CPU time of a process, and of the ended children for which the process has waited, in
 * milliseconds.
 */
type CpuTime = { ownMs: number; childrenMs: number }

/** Returns the CPU time of a process so far. Throws without /proc. */
export function readCpuTime(pid: number): CpuTime {
  // Splits the line after the program's name, which is in parentheses and may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? []
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields
    .slice(11, 15)
    .map(Number)
  const tickMs = 1000 / ticksPerSecond()
  return { ownMs: (user + system) * tickMs, childrenMs: (childrenUser + childrenSystem) * tickMs }
}

/**
 * Returns the CPU time of a process and all its descendants, including ended ones, in milliseconds.
 * Returns 0 without /proc.
 */
export function readProcessTreeCpuMs(pid: number): number {
  return readProcessTree(pid).reduce((sum, each) => sum + wholeMs(each.pid), 0)
}

/**
 * Returns the CPU time that a process and its descendants use during `work`, in milliseconds. Sums
 * the differences of processes that exist both before and after the work, so that tools that run
 * only during the work do not count. Returns null without /proc.
 */
export async function measureProcessTreeCpuMs(
  pid: number,
  work: () => Promise<void>,
): Promise<number | null> {
  const before = ownTimes(pid)
  await work()
  const after = ownTimes(pid)
  if (before.size === 0) return null
  return [...before].reduce((sum, [each, ms]) => sum + Math.max(0, (after.get(each) ?? ms) - ms), 0)
}

/**
 * Samples the CPU time of a process and its descendants from now on, in milliseconds. The samples
 * include processes that a sandbox kills, whose CPU time the kernel does not add to that of a
 * parent.
 */
export function watchProcessTreeCpu(pid: number): { ms(): number; stop(): void } {
  const before = ownTimes(pid)
  const last = new Map(before)
  function look(): void {
    for (const [each, ms] of ownTimes(pid)) last.set(each, ms)
  }
  const timer = setInterval(look, SAMPLE_MS)
  return {
    stop: () => clearInterval(timer),
    ms() {
      look()
      return [...last].reduce((sum, [each, ms]) => sum + ms - (before.get(each) ?? 0), 0)
    },
  }
}

function ownTimes(pid: number): Map<number, number> {
  const times = new Map<number, number>()
  for (const each of readProcessTree(pid)) {
    try {
      times.set(each.pid, readCpuTime(each.pid).ownMs)
    } catch {
      // The process has ended meanwhile.
    }
  }
  return times
}

/**
 * Returns the CPU time of a process and its ended children, in milliseconds. Returns 0 for an ended
 * process, because the CPU time of its parent includes that of the process.
 */
function wholeMs(pid: number): number {
  try {
    const { ownMs, childrenMs } = readCpuTime(pid)
    return ownMs + childrenMs
  } catch {
    return 0
  }
}

let knownTicks: number | null = null

function ticksPerSecond(): number {
  knownTicks ??= Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }))
  return knownTicks
}

const ATTACH_MS_MAX = 5_000

/**
 * Counts the fsync and fdatasync calls of a process during `work` with strace. Returns null if
 * strace is missing or cannot attach.
 */
export async function countFsyncCalls(
  pid: number,
  work: () => Promise<void>,
): Promise<number | null> {
  const words = ["-f", "-p", String(pid), "-e", "trace=fsync,fdatasync", "-e", "signal=none"]
  const tracer = spawn("strace", words, { stdio: ["ignore", "ignore", "pipe"] })
  const ended = once(tracer, "close").catch(() => undefined)
  let trace = ""
  const attached = new Promise<boolean>((resolve) => {
    tracer.once("error", () => resolve(false)).once("exit", () => resolve(false))
    tracer.stderr.on("data", (chunk: Buffer) => {
      trace += chunk.toString()
      if (trace.includes(`Process ${pid} attached`)) resolve(true)
    })
    setTimeout(() => resolve(false), ATTACH_MS_MAX).unref()
  })
  const isAttached = await attached
  try {
    await work()
  } finally {
    tracer.kill("SIGINT")
    await ended
  }
  return isAttached ? (trace.match(/\b(?:fsync|fdatasync)\(/g)?.length ?? 0) : null
}
