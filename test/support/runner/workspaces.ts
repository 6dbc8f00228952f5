import { readFileSync, readdirSync, readlinkSync } from "node:fs"
import { join } from "node:path"

/** Returns the names of workspaces in a work folder that belong or belonged to a task. */
export function listUsedWorkspaces(workDir: string): string[] {
  const idle = listIdleWorkspaces(workDir)
  return readdirSync(workDir).filter((name) => !idle.has(join(workDir, name)))
}

/** Returns the paths of empty workspaces whose warm sandboxes wait for a task. */
export function listIdleWorkspaces(workDir: string): Set<string> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const folders = pids.flatMap((pid) => waitingFolderOf(pid) ?? [])
  return new Set(folders.filter((folder) => folder.startsWith(`${workDir}/`) && isEmpty(folder)))
}

/**
 * Reports whether a process of a warm sandbox is unused: a process that waits for an order to start
 * a tool, or a tool that is held before its `main()`.
 */
export function isWaitingToolProcess(pid: number | string, words: readonly string[]): boolean {
  if (words.includes("--wait")) return true
  const [program = "", ...more] = words.filter((word) => word !== "")
  // A held tool has no arguments, and stdin is a pipe with its order. After its start, stdin is
  // `/dev/null`.
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
