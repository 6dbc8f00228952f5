import { readFileSync, readdirSync, readlinkSync } from "node:fs"
import { join } from "node:path"

/**
 * Returns the names of workspaces (folders for one run of a task) that a task uses or has used.
 * Leaves out those of waiting warm sandboxes.
 */
export function listUsedWorkspaces(workDir: string): string[] {
  const idle = listIdleWorkspaces(workDir)
  return readdirSync(workDir).filter((name) => !idle.has(join(workDir, name)))
}

/**
 * Returns the paths of empty workspaces that belong to warm sandboxes: sandboxes that were started
 * ahead and wait for a task.
 */
export function listIdleWorkspaces(workDir: string): Set<string> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const folders = pids.flatMap((pid) => waitingFolderOf(pid) ?? [])
  return new Set(folders.filter((folder) => folder.startsWith(`${workDir}/`) && isEmpty(folder)))
}

/**
 * Reports whether a process belongs to a warm sandbox without a task: it waits for the command to
 * start a tool, or is a tool that waits before its `main()`.
 */
export function isWaitingToolProcess(pid: number | string, words: readonly string[]): boolean {
  if (words.includes("--wait")) return true
  const [program = "", ...more] = words.filter((word) => word !== "")
  // A tool that waits before its `main()` has no arguments, and gets them through a pipe as its
  // stdin. Afterwards its stdin is `/dev/null`.
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
    return isWaitingToolProcess(pid, words) ? readlinkSync(`/proc/${pid}/cwd`) : null
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
