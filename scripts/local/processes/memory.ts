import { readdirSync, readFileSync } from "node:fs"

const SAMPLE_MS = 20

export type MemoryWatch = { stop(): { peakBytes: number } }

/** Resident memory of a process, in bytes; null where there is no /proc. */
export function residentBytes(pid: number | null): number | null {
  const status = pid === null ? null : readProc(`${pid}/status`)
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status ?? "")?.[1]
  return kib === undefined ? null : Number(kib) * 1024
}

/**
 * Resident memory of a process in bytes where pages that others have too count by its share of them;
 * null where there is no /proc, or it may not look.
 */
export function proportionalBytes(pid: number): number | null {
  const kib = /^Pss:\s+(\d+) kB$/m.exec(readProc(`${pid}/smaps_rollup`) ?? "")?.[1]
  return kib === undefined ? null : Number(kib) * 1024
}

/** Samples the resident memory of a process every few milliseconds and keeps the peak. */
export function watchMemory(pid: number | null): MemoryWatch {
  let peakBytes = 0
  function look(): void {
    peakBytes = Math.max(peakBytes, residentBytes(pid) ?? 0)
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

/** The workerd that a process or one of its children started; null where there is no /proc. */
export function findWorkerd(parentPid: number): number | null {
  return listFamily(parentPid).find(({ name }) => name === "workerd")?.pid ?? null
}

/** The runner that a start script started; null where there is no /proc. */
export function findRunner(parentPid: number): number | null {
  const found = listProcesses().find(
    ({ pid, parent }) => parent === parentPid && readProc(`${pid}/cmdline`)?.includes("/runner.js"),
  )
  return found?.pid ?? null
}

/** Resident memory of a process and of all below it together, in bytes; 0 where there is no /proc. */
export function familyBytes(pid: number): number {
  return listFamily(pid).reduce((sum, each) => sum + (residentBytes(each.pid) ?? 0), 0)
}

/** A process and all below it; empty where there is no /proc. */
export function listFamily(ancestorPid: number) {
  const family = new Set([ancestorPid])
  const processes = listProcesses()
  for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid)
  return processes.filter(({ pid }) => family.has(pid))
}

/** Sorted by id, so that parents come before their children. */
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
