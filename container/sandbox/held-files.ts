import { readFile, readdir, stat } from "node:fs/promises"
import { basename } from "node:path"
import type { Stats } from "node:fs"

const BLOCK_BYTES = 512

/**
 * Disk space of the files of a folder that a process and those it started have deleted and still
 * hold, which the folder does not show. It is seen on Linux only, and of another user's processes
 * only by root. A file that is mapped and no longer open does not tell its size: it is endless.
 */
export async function measureHeldFiles(folder: string, pid: number | undefined): Promise<number> {
  const bytes = new Map<number, number>()
  const pids = pid === undefined ? [] : [String(pid)]
  for (let each = pids.pop(); each !== undefined; each = pids.pop()) {
    const { task, maps } = await findLivingTask(each)
    for (const file of await openFilesOf(task)) {
      if (file.nlink > 0) continue
      bytes.set(file.ino, Math.max(file.size, file.blocks * BLOCK_BYTES))
    }
    const mapped = readDeletedInodes(maps, folder)
    if (mapped.some((inode) => !bytes.has(inode))) return Number.POSITIVE_INFINITY
    pids.push(...(await childrenOf(each)))
  }
  return [...bytes.values()].reduce((sum, each) => sum + each, 0)
}

/** The threads share files and memory, but the first may have ended, and then has none. */
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
  // What is closed since is of no account.
  const facts = names.map((name) => stat(`${task}/fd/${name}`).catch(() => null))
  return (await Promise.all(facts)).flatMap((file) => (file?.isFile() ? [file] : []))
}

/** The fifth word of a line is the inode, then comes the path, which may say that it is deleted. */
function readDeletedInodes(maps: string, folder: string): number[] {
  // The path is the real one, which the one that we know may only lead to.
  const inFolder = `/${basename(folder)}/`
  return maps
    .split("\n")
    .filter((line) => line.endsWith(" (deleted)") && line.includes(inFolder))
    .map((line) => Number(line.split(/ +/, 5).at(-1)))
}

async function childrenOf(pid: string): Promise<string[]> {
  return (await textOf(`/proc/${pid}/task/${pid}/children`)).split(" ").filter(Boolean)
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => [])
}

async function textOf(path: string): Promise<string> {
  return await readFile(path, "utf8").catch(() => "")
}
