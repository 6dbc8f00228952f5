import { readFile, readdir, stat } from "node:fs/promises"
import { basename } from "node:path"
import type { Stats } from "node:fs"

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
async function listProcesses(pid: string): Promise<string[]> {
  const pids = [pid]
  for (const each of pids) pids.push(...(await childrenOf(each)))
  return [...new Set(pids)]
}

async function measureProcesses(folder: string, pids: readonly string[]): Promise<number> {
  const bytes = new Map<number, number>()
  for (const pid of pids) {
    const { task, maps } = await findLivingTask(pid)
    for (const file of await openFilesOf(task)) {
      if (file.nlink > 0) continue
      bytes.set(file.ino, Math.max(file.size, file.blocks * BLOCK_BYTES))
    }
    const mapped = readDeletedInodes(maps, folder)
    if (mapped.some((inode) => !bytes.has(inode))) return Number.POSITIVE_INFINITY
  }
  return [...bytes.values()].reduce((sum, each) => sum + each, 0)
}

/** Threads share files and memory; the first may have ended, and then /proc shows none for it. */
async function findLivingTask(pid: string): Promise<{ task: string; maps: string }> {
  for (const thread of await namesIn(`/proc/${pid}/task`)) {
    const task = `/proc/${pid}/task/${thread}`
    const maps = await textOf(`${task}/maps`)
    if (maps !== "") return { task, maps }
  }
  return { task: `/proc/${pid}`, maps: "" }
}

async function openFilesOf(task: string): Promise<Stats[]> {
  const names = await namesIn(`${task}/fd`)
  // A descriptor that was closed meanwhile is skipped.
  const stats = names.map((name) => stat(`${task}/fd/${name}`).catch(() => null))
  return (await Promise.all(stats)).flatMap((file) => (file?.isFile() ? [file] : []))
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
async function childrenOf(pid: string): Promise<string[]> {
  const threads = await namesIn(`/proc/${pid}/task`)
  const lists = threads.map((thread) => textOf(`/proc/${pid}/task/${thread}/children`))
  return (await Promise.all(lists)).flatMap((text) => text.split(" ").filter(Boolean))
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => [])
}

async function textOf(path: string): Promise<string> {
  return await readFile(path, "utf8").catch(() => "")
}
