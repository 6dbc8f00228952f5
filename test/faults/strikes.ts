import { execFileSync } from "node:child_process"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import type { Bed } from "./bed.ts"
import { databasePath } from "./leftovers.ts"
import { findRunner, findTools, findWorkerd, killAll } from "./processes.ts"

const TOOL_MS_MAX = 1500
const POLL_MS = 10
const DISK_MIB = 64
const BALLAST = "ballast"

/** Ends the runner without a word. */
export async function killRunner(bed: Bed): Promise<void> {
  killAll([findRunner(bed.pid)])
}

/** Ends every ffmpeg and ffprobe of the runner, or the first that begins now. */
export async function killTools(bed: Bed): Promise<void> {
  const until = Date.now() + TOOL_MS_MAX
  for (;;) {
    const tools = findTools(bed.pid, bed.workDir)
    killAll(tools)
    if (tools.length > 0 || Date.now() > until) return
    await sleep(POLL_MS)
  }
}

/** Ends the process that is Worker, D1, R2, queues and Durable Objects. */
export async function killWorkerd(bed: Bed): Promise<void> {
  killAll([findWorkerd(bed.pid)])
}

/** Ends both at once, so that neither finds the other when it comes up. */
export async function killBoth(bed: Bed): Promise<void> {
  killAll([findRunner(bed.pid), findWorkerd(bed.pid)])
}

/** Has every write to D1 fail for so long, since somebody else holds its lock. */
export function lockDatabase(ms: number): (bed: Bed) => Promise<void> {
  return async (bed) => {
    const database = new DatabaseSync(databasePath(bed), { timeout: 5000 })
    database.exec("begin immediate")
    await sleep(ms)
    database.exec("rollback")
    database.close()
  }
}

/** Stops the runner's process for so long, so that nothing of it is heard, then lets it go on. */
export function stopRunner(ms: number): (bed: Bed) => Promise<void> {
  return async (bed) => {
    const pid = findRunner(bed.pid)
    if (pid === null) return
    process.kill(pid, "SIGSTOP")
    try {
      await sleep(ms)
    } finally {
      process.kill(pid, "SIGCONT")
    }
  }
}

/** Lets nothing through between runner and Worker for so long. */
export function cutNetwork(ms: number): (bed: Bed) => Promise<void> {
  return async (bed) => await bed.proxy.cut(ms)
}

/** Fills the disk that workspaces are on for so long; the bed must have one of its own there. */
export function fillDisk(ms: number): (bed: Bed) => Promise<void> {
  return async (bed) => {
    const ballast = join(bed.workDir, BALLAST)
    try {
      writeFileSync(ballast, Buffer.alloc(DISK_MIB * 1024 * 1024))
    } catch {
      // It is full, which is the point.
    }
    await sleep(ms)
    rmSync(ballast, { force: true })
  }
}

/** Puts a small disk under the workspaces; null where this process may not mount one. */
export function mountSmallDisk({ workDir }: Bed): { unmount(): void } | null {
  try {
    const options = `size=${DISK_MIB}m,mode=700`
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", workDir], { stdio: "ignore" })
    return { unmount: () => void execFileSync("umount", ["-l", workDir], { stdio: "ignore" }) }
  } catch {
    return null
  }
}
