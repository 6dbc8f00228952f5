import { execFileSync } from "node:child_process"
import { renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import pWaitFor from "p-wait-for"
import type { Bed } from "./bed.ts"
import { databasePath } from "./leftovers.ts"
import { findRunner, findSpeechWorkers, findTools, findWorkerd, killAll } from "./processes.ts"

const TOOL_MS_MAX = 1500
const POLL_MS = 10
/** Room for a task in each slot, above the reserve. */
const DISK_MIB = 128
const BALLAST_BYTES = 512 * 1024 * 1024
const BALLAST = "ballast"

/** Kills the runner. */
export async function killRunner(bed: Bed): Promise<void> {
  killAll([findRunner(bed.pid)])
}

/** Has the runner end in order, which interrupts its runs. */
export async function endRunner(bed: Bed): Promise<void> {
  const pid = findRunner(bed.pid)
  if (pid !== null) process.kill(pid, "SIGTERM")
}

/** Ends the whole service by a signal to its start script, and starts it again. */
export function restartService(signal: NodeJS.Signals): (bed: Bed) => Promise<void> {
  return async (bed) => {
    await bed.restart(async (pid) => void process.kill(pid, signal))
  }
}

/** Breaks the connections to the source, and takes none for this long. */
export function cutSource(ms: number): (bed: Bed) => Promise<void> {
  return async (bed) => await bed.source.cut(ms)
}

/** Has the source say nothing for this long. */
export function stallSource(ms: number): (bed: Bed) => Promise<void> {
  return async (bed) => await bed.source.stall(ms)
}

/** Kills every ffmpeg and ffprobe of the runner, or the next ones that start. */
export async function killTools(bed: Bed): Promise<void> {
  await killFoundOf(() => findTools(bed.pid, bed.workDir))
}

/** Kills the processes that have a speech model, or the next ones that start. */
export async function killSpeechWorkers(bed: Bed): Promise<void> {
  await killFoundOf(() => findSpeechWorkers(bed.pid))
}

async function killFoundOf(find: () => number[]): Promise<void> {
  function killFound(): boolean {
    const found = find()
    killAll(found)
    return found.length > 0
  }
  const timeout = { milliseconds: TOOL_MS_MAX, fallback: () => undefined }
  await pWaitFor(killFound, { interval: POLL_MS, timeout })
}

/** Kills workerd, which is Worker, D1, R2, queues and Durable Objects. */
export async function killWorkerd(bed: Bed): Promise<void> {
  killAll([findWorkerd(bed.pid)])
}

/** Kills both at once, so that neither finds the other when it starts again. */
export async function killBoth(bed: Bed): Promise<void> {
  killAll([findRunner(bed.pid), findWorkerd(bed.pid)])
}

/** Has every write to D1 fail for this long, by holding the database's lock. */
export function lockDatabase(ms: number): (bed: Bed) => Promise<void> {
  return async (bed) => {
    const database = new DatabaseSync(databasePath(bed), { timeout: 5000 })
    database.exec("begin immediate")
    await sleep(ms)
    database.exec("rollback")
    database.close()
  }
}

/** Stops the runner's process (SIGSTOP) for this long, then continues it. */
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

/** Blocks all traffic between runner and Worker for this long. */
export function cutNetwork(ms: number): (bed: Bed) => Promise<void> {
  return async (bed) => await bed.proxy.cut(ms)
}

/** Fills the disk of a folder for this long; it must be a small one, of less than this ballast. */
export function fillDisk(ms: number, folder: "workDir" | "stateDir"): (bed: Bed) => Promise<void> {
  return async (bed) => {
    const ballast = join(bed[folder], BALLAST)
    try {
      writeFileSync(ballast, Buffer.alloc(BALLAST_BYTES))
    } catch {
      // It is full, which is the point.
    }
    await sleep(ms)
    rmSync(ballast, { force: true })
  }
}

/** Has the runner start again while its self-test fails, for want of a tool, for this long. */
export function failSelfTest(ms: number): (bed: Bed) => Promise<void> {
  return async (bed) => {
    renameSync(bed.ffmpegPath, `${bed.ffmpegPath}-away`)
    killAll([findRunner(bed.pid)])
    await sleep(ms)
    renameSync(`${bed.ffmpegPath}-away`, bed.ffmpegPath)
  }
}

/** Mounts a small disk for the workspaces; null where this process may not mount. */
export function mountWorkDisk({ workDir }: Bed): { unmount(): void } | null {
  try {
    const options = `size=${DISK_MIB}m,mode=700`
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", workDir], { stdio: "ignore" })
    return { unmount: () => void execFileSync("umount", ["-l", workDir], { stdio: "ignore" }) }
  } catch {
    return null
  }
}
