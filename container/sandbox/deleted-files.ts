import { readFileSync, readdirSync, statSync } from "node:fs"
import type { Stats } from "node:fs"
import { basename } from "node:path"
import { setImmediate as yieldToEventLoop } from "node:timers/promises"

// The functions in this file read /proc synchronously, since hundreds of calls on the thread pool
// would take ten times as long. The functions yield to the event loop after each process.

const BLOCK_BYTES = 512

/**
 * Maximum number of attempts to measure deleted files that are still open. A new attempt is made if
 * a process started meanwhile, since it may have inherited a file from a process that ended.
 */
const ATTEMPTS_MAX = 20

/**
 * Returns the disk space, in bytes, of deleted files of a folder that are still open in a process
 * or its descendants. Works only on Linux, and for processes of other users only as root. Returns
 * Infinity if a deleted file is mapped into memory but not open, since its size is unknown. Also
 * returns Infinity if a new process starts during every attempt.
 */
export async function measureDeletedFiles(
  folder: string,
  pid: number | undefined,
): Promise<number> {
  if (pid === undefined) return 0
  let before = await listProcessTreeIds(String(pid))
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const bytes = await measureProcesses(folder, before)
    const after = await listProcessTreeIds(String(pid))
    if (new Set([...before, ...after]).size === before.length) return bytes
    before = after
  }
  return Number.POSITIVE_INFINITY
}

/** Returns the ids of a process and its descendants. */
export async function listProcessTreeIds(pid: string): Promise<string[]> {
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
    const { task, maps } = findLivingThread(pid)
    for (const file of openFilesOf(task)) {
      if (file.nlink > 0) continue
      bytes.set(file.ino, Math.max(file.size, file.blocks * BLOCK_BYTES))
    }
    const mapped = readDeletedInodes(maps, folder)
    if (mapped.some((inode) => !bytes.has(inode))) return Number.POSITIVE_INFINITY
  }
  return [...bytes.values()].reduce((sum, each) => sum + each, 0)
}

/**
 * Returns the /proc folder of a living thread of a process, and the memory map of the process. All
 * threads share files and memory, but /proc shows nothing for a thread that has ended.
 */
function findLivingThread(pid: string): { task: string; maps: string } {
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

/**
 * Returns the inodes of deleted files of the folder that are mapped into memory. The line of such a
 * file in /proc/…/maps ends with "(deleted)", and the inode is the fifth field.
 */
function readDeletedInodes(maps: string, folder: string): number[] {
  // Compares only the last name in the path of the folder, since the kernel prints the real path
  // and `folder` may contain symbolic links.
  const inFolder = `/${basename(folder)}/`
  return maps
    .split("\n")
    .filter((line) => line.endsWith(" (deleted)") && line.includes(inFolder))
    .map((line) => Number(line.split(/ +/, 5).at(-1)))
}

/** Returns the ids of the child processes that the threads of a process have started. */
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

/**
 * Returns the result of stat() for a file that is open in a process; null if the process has closed
 * the file meanwhile.
 */
function statsOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}
