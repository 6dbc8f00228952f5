import { readFileSync, readdirSync, readlinkSync } from "node:fs"
import { join } from "node:path"

/** Names of the workspaces in a work folder that are or were a task's. */
export function takenWorkspaces(workDir: string): string[] {
  const idle = idlePlaces(workDir)
  return readdirSync(workDir).filter((name) => !idle.has(join(workDir, name)))
}

/** Workspaces in which nothing is yet, and sandboxes wait for the tools of a task to come. */
export function idlePlaces(workDir: string): Set<string> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const folders = pids.flatMap((pid) => waitingFolderOf(pid) ?? [])
  return new Set(folders.filter((folder) => folder.startsWith(`${workDir}/`) && isEmpty(folder)))
}

/** Whether a process waits for the order to start a tool, or is a tool that is held until it comes. */
export function isWaiting(pid: number | string, words: readonly string[]): boolean {
  if (words.includes("--wait")) return true
  const [program = "", ...more] = words.filter((word) => word !== "")
  // A tool that is held keeps no words but its name, and has its order on stdin, later nothing.
  return more.length === 0 && /(?:^|\/)ff(?:mpeg|probe)$/.test(program) && !readsNothing(pid)
}

function readsNothing(pid: number | string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/fd/0`).endsWith("/null")
  } catch {
    return true
  }
}

function waitingFolderOf(pid: string): string | null {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    return isWaiting(pid, words) ? readlinkSync(`/proc/${pid}/cwd`) : null
  } catch {
    return null
  }
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0
  } catch {
    return false
  }
}
