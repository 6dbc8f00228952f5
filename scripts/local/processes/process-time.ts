import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { listFamily } from "./memory.ts"

const SAMPLE_MS = 100

/** CPU time of a process and of children that it has waited for, in milliseconds. */
type CpuTime = { ownMs: number; childrenMs: number }

/** CPU time of a process so far; throws where there is no /proc. */
export function cpuTimeOf(pid: number): CpuTime {
  // The name of the program, in parentheses, may have spaces in it.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? []
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields
    .slice(11, 15)
    .map(Number)
  const tickMs = 1000 / ticksPerSecond()
  return { ownMs: (user + system) * tickMs, childrenMs: (childrenUser + childrenSystem) * tickMs }
}

/** CPU time of a process and all below it, ended ones too, in milliseconds; 0 without /proc. */
export function familyTimeMs(pid: number): number {
  return listFamily(pid).reduce((sum, each) => sum + wholeMs(each.pid), 0)
}

/**
 * CPU time, in milliseconds, that the processes of a family take themselves during some work: those
 * that are there before and after it, and so no tools. Null without /proc.
 */
export async function steadyTimeMs(pid: number, work: () => Promise<void>): Promise<number | null> {
  const before = ownTimes(pid)
  await work()
  const after = ownTimes(pid)
  if (before.size === 0) return null
  return [...before].reduce((sum, [each, ms]) => sum + Math.max(0, (after.get(each) ?? ms) - ms), 0)
}

/**
 * CPU time, in milliseconds, of a process and all below it from now on, as far as it is seen: whoever is
 * killed in a sandbox is waited for by nobody, and tells nobody its time.
 */
export function watchTimes(pid: number): { ms(): number; stop(): void } {
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
  for (const each of listFamily(pid)) {
    try {
      times.set(each.pid, cpuTimeOf(each.pid).ownMs)
    } catch {
      // It has ended meanwhile.
    }
  }
  return times
}

/** 0 of a process that is gone: whoever waited for it has its time. */
function wholeMs(pid: number): number {
  try {
    const { ownMs, childrenMs } = cpuTimeOf(pid)
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
 * How often a process has its files written to the disk (fsync, fdatasync) during some work; null
 * where there is no strace, or it may not look.
 */
export async function countSyncs(pid: number, work: () => Promise<void>): Promise<number | null> {
  const words = ["-f", "-p", String(pid), "-e", "trace=fsync,fdatasync", "-e", "signal=none"]
  const tracer = spawn("strace", words, { stdio: ["ignore", "ignore", "pipe"] })
  const ended = once(tracer, "close").catch(() => undefined)
  let said = ""
  const attached = new Promise<boolean>((resolve) => {
    tracer.once("error", () => resolve(false)).once("exit", () => resolve(false))
    tracer.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes(`Process ${pid} attached`)) resolve(true)
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
  return isAttached ? (said.match(/\b(?:fsync|fdatasync)\(/g)?.length ?? 0) : null
}
