import { readFile, readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Stats } from "node:fs"

const BLOCK_BYTES = 512

/**
 * Disk space of the files that a process and those it started hold open and have deleted, which no
 * folder shows. What another user's processes hold is seen by root alone, and nowhere but on Linux.
 */
export async function measureHeldFiles(pid: number | undefined): Promise<number> {
  const deleted = new Map<string, number>()
  const pids = pid === undefined ? [] : [String(pid)]
  for (let each = pids.pop(); each !== undefined; each = pids.pop()) {
    for (const file of await openFilesOf(each)) {
      if (!file.isFile() || file.nlink > 0) continue
      deleted.set(`${file.dev}:${file.ino}`, Math.max(file.size, file.blocks * BLOCK_BYTES))
    }
    pids.push(...(await childrenOf(each)))
  }
  return [...deleted.values()].reduce((sum, bytes) => sum + bytes, 0)
}

/** The threads of a process share their files; the first may be gone already, and then has none. */
async function openFilesOf(pid: string): Promise<Stats[]> {
  for (const thread of await namesIn(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}/fd`
    const files = await Promise.all((await namesIn(folder)).map((fd) => factsOf(join(folder, fd))))
    if (files.length > 0) return files.filter((file) => file !== null)
  }
  return []
}

async function childrenOf(pid: string): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "")
  return text.split(" ").filter(Boolean)
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => [])
}

/** What is closed since is of no account. */
async function factsOf(path: string): Promise<Stats | null> {
  return await stat(path).catch(() => null)
}
