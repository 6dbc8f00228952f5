import { readdirSync, readFileSync } from "node:fs"

const SAMPLE_MS = 20

export type PeakMemorySampler = { stop(): { peakBytes: number } }

/** Returns the resident memory of a process, in bytes. Returns null without /proc. */
export function readResidentBytes(pid: number | null): number | null {
  const status = pid === null ? null : readProc(`${pid}/status`)
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status ?? "")?.[1]
  return kib === undefined ? null : Number(kib) * 1024
}

/**
 * Returns the proportional set size of a process in bytes: the resident memory, with shared pages
 * divided among the processes that share them. Returns null if /proc does not show the size.
 */
export function readProportionalBytes(pid: number): number | null {
  const kib = /^Pss:\s+(\d+) kB$/m.exec(readProc(`${pid}/smaps_rollup`) ?? "")?.[1]
  return kib === undefined ? null : Number(kib) * 1024
}

/** Samples the resident memory of a process every 20 ms. `stop` returns the peak. */
export function samplePeakMemory(pid: number | null): PeakMemorySampler {
  let peakBytes = 0
  function look(): void {
    peakBytes = Math.max(peakBytes, readResidentBytes(pid) ?? 0)
  }
  look()
  const timer = setInterval(look, SAMPLE_MS)
  return {
    stop() {
      clearInterval(timer)
      look()
      return { peakBytes }
    },
  }
}

/**
 * Returns the process id of the workerd that descends from a process. Returns null if there is
 * none, or without /proc.
 */
export function findWorkerdPid(parentPid: number): number | null {
  return readProcessTree(parentPid).find(({ name }) => name === "workerd")?.pid ?? null
}

/**
 * Returns the process id of the runner that a start script started. Returns null if there is none,
 * or without /proc.
 */
export function findRunnerPid(parentPid: number): number | null {
  const found = listProcesses().find(
    ({ pid, parent }) => parent === parentPid && readProc(`${pid}/cmdline`)?.includes("/runner.js"),
  )
  return found?.pid ?? null
}

/**
 * Returns the sum of the resident memory of a process and all its descendants, in bytes. Returns 0
 * without /proc.
 */
export function readProcessTreeBytes(pid: number): number {
  return readProcessTree(pid).reduce((sum, each) => sum + (readResidentBytes(each.pid) ?? 0), 0)
}

/** Returns a process and all its descendants. Returns an empty list without /proc. */
export function readProcessTree(ancestorPid: number) {
  const family = new Set([ancestorPid])
  const processes = listProcesses()
  for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid)
  return processes.filter(({ pid }) => family.has(pid))
}

/** Lists all processes by process id, so that parents usually come before their children. */
function listProcesses(): { pid: number; name: string; parent: number }[] {
  const pids = readNames().filter((name) => /^\d+$/.test(name))
  return pids
    .map(Number)
    .toSorted((one, other) => one - other)
    .flatMap((pid) => {
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(readProc(`${pid}/stat`) ?? "") ?? []
      return name === undefined ? [] : [{ pid, name, parent: Number(parent) }]
    })
}

function readNames(): string[] {
  try {
    return readdirSync("/proc")
  } catch {
    return []
  }
}

function readProc(path: string): string | null {
  try {
    return readFileSync(`/proc/${path}`, "utf8")
  } catch {
    return null
  }
}
