import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { Complaint } from "./complaint.ts"
import { isSystemError } from "./system-error.ts"

const owner = z.object({ pid: z.int().positive(), born: z.string() })

/**
 * Makes a state folder this process's own until `release`; what a dead process left is taken over.
 * Throws a Complaint where a living process has it.
 */
export function lockStateDir(stateDir: string): { release(): void } {
  const path = join(stateDir, "lock")
  const mine = JSON.stringify({ pid: process.pid, born: birthOf(process.pid) })
  if (!writeNew(path, mine)) {
    const pid = livingOwner(path)
    if (pid !== null) {
      throw new Complaint(
        `Process ${pid} already serves from ${stateDir}: stop it, or set STATE_DIR to another folder.`,
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

function livingOwner(path: string): number | null {
  try {
    const { pid, born } = owner.parse(JSON.parse(readFileSync(path, "utf8")))
    process.kill(pid, 0)
    return birthOf(pid) === born ? pid : null
  } catch (error) {
    const isAnothers = isSystemError(error, "EPERM")
    return isAnothers ? 0 : null
  }
}

/** When a process began, in the kernel's ticks, since a number is soon given to another process. */
function birthOf(pid: number): string {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")
    return fields?.[19] ?? ""
  } catch {
    return ""
  }
}
