import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { CliError } from "../cli/cli-error.ts"
import { isSystemError } from "../cli/system-error.ts"

const owner = z.object({ pid: z.int().positive(), born: z.string() })

/**
 * Locks a state folder for this process until `release`. Takes over the lock of a dead process.
 * Throws a CliError if a living process holds the lock.
 */
export function lockStateDir(stateDir: string): { release(): void } {
  const path = join(stateDir, "lock")
  const mine = JSON.stringify({ pid: process.pid, born: startTimeOf(process.pid) })
  if (!writeNew(path, mine)) {
    const pid = findLivingOwner(path)
    if (pid !== null) {
      throw new CliError(
        `Process ${pid} already uses ${stateDir}: stop it, or set STATE_DIR to another folder.`,
      )
    }
    rmSync(path, { force: true })
    if (!writeNew(path, mine)) return lockStateDir(stateDir)
  }
  return { release: () => rmSync(path, { force: true }) }
}

function writeNew(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 })
    return true
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return false
    throw error
  }
}

function findLivingOwner(path: string): number | null {
  try {
    const { pid, born } = owner.parse(JSON.parse(readFileSync(path, "utf8")))
    process.kill(pid, 0)
    return startTimeOf(pid) === born ? pid : null
  } catch (error) {
    const isAnothers = isSystemError(error, "EPERM")
    return isAnothers ? 0 : null
  }
}

/**
 * Returns the start time of a process in clock ticks, which distinguishes the process from a later
 * process with the same id.
 */
function startTimeOf(pid: number): string {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")
    return fields?.[19] ?? ""
  } catch {
    return ""
  }
}
