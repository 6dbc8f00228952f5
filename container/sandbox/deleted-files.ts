import { readFileSync, readdirSync, statSync } from "node:fs"
import type { Stats } from "node:fs"
import { basename } from "node:path"
import { setImmediate as yieldToEventLoop } from "node:timers/promises"

// What /proc tells is there at once: handed to a thread of the pool, each of some hundred calls would
// take ten times as long. The event loop goes on after each process.

const BLOCK_BYTES = 512

/** Processes that come and go at each look pass a file on, so that no look finds it. */
const LOOKS_MAX = 20

/**
 * Disk space of files of a folder that were deleted but are still open in a process or its
 * descendants, so that the folder does not list them. Works on Linux only, and for processes of
 * other users only as root. A deleted file that is mapped but not open has no known size: Infinity,
 * and so have the files of processes that are others at every look.
 */
export async function measureDeletedFiles(
  folder: string,
  pid: number | undefined,
): Promise<number> {
  if (pid === undefined) return 0
  let before = await listProcesses(String(pid))
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const bytes = await measureProcesses(folder, before)
    const after = await listProcesses(String(pid))
    if (new Set([...before, ...after]).size === before.length) return bytes
    before = after
  }
  return Number.POSITIVE_INFINITY
}

/** A process and its descendants. */
export async function listProcesses(pid: string): Promise<string[]> {
  const pids = [pid]
  for (const each of pids) {
    await yieldToEventLoop()
    pids.push(...childrenOf(each))
  }
  return [...new Set(pids)]
}

async function measureProcesses(folder: string, pids: readonly string[]): Promise<number> {
  const bytes = new Map<number, number>()
  for (const pid of pids) {
    await yieldToEventLoop()
    const { task, maps } = findLivingTask(pid)
    for (const file of openFilesOf(task)) {
      if (file.nlink > 0) continue
      bytes.set(file.ino, Math.max(file.size, file.blocks * BLOCK_BYTES))
    }
    const mapped = readDeletedInodes(maps, folder)
    if (mapped.some((inode) => !bytes.has(inode))) return Number.POSITIVE_INFINITY
  }
  return [...bytes.values()].reduce((sum, each) => sum + each, 0)
}

/** Threads share files and memory; the first may have ended, and then /proc shows none for it. */
function findLivingTask(pid: string): { task: string; maps: string } {
  for (const thread of namesIn(`/proc/${pid}/task`)) {
    const task = `/proc/${pid}/task/${thread}`
    const maps = textOf(`${task}/maps`)
    if (maps !== "") return { task, maps }
  }
  return { task: `/proc/${pid}`, maps: "" }
}

function openFilesOf(task: string): Stats[] {
  const files = namesIn(`${task}/fd`).map((name) => statsOf(`${task}/fd/${name}`))
  return files.filter((file) => file !== null).filter((file) => file.isFile())
}

/** The fifth field of a line is the inode; then comes the path, with " (deleted)" if it is. */
function readDeletedInodes(maps: string, folder: string): number[] {
  // The kernel shows the real path, and `folder` may contain links; so only the last name is compared.
  const inFolder = `/${basename(folder)}/`
  return maps
    .split("\n")
    .filter((line) => line.endsWith(" (deleted)") && line.includes(inFolder))
    .map((line) => Number(line.split(/ +/, 5).at(-1)))
}

/** Each thread has the children that it started. */
function childrenOf(pid: string): string[] {
  const threads = namesIn(`/proc/${pid}/task`)
  const lists = threads.map((thread) => textOf(`/proc/${pid}/task/${thread}/children`))
  return lists.flatMap((text) => text.split(" ").filter(Boolean))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/** Null: the descriptor was closed meanwhile. */
function statsOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}
