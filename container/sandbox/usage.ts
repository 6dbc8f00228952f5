import { lstat, readdir, statfs } from "node:fs/promises"
import { join } from "node:path"
import type { Dirent } from "node:fs"
import { measureDeletedFiles } from "./deleted-files.ts"

const USAGE_POLL_MS = 200
/** Deleted files are measured in every fifth poll, since listing /proc stalls the process. */
const POLLS_PER_DELETED = 5
const BLOCK_BYTES = 512
const FREE_SPACE_POLL_MS = 100
const FREE_BYTES_MIN = 64 * 1024

export type Usage = { bytes: number; files: number }

/**
 * Measures a folder five times a second, and once a second the deleted files that the process
 * working there keeps open. Calls back once when that exceeds the limit.
 */
export function watchUsage(
  { folder, pid }: { folder: string; pid: number | undefined },
  limit: Usage,
  onExceeded: () => void,
): { stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let polls = 0
  async function poll(): Promise<void> {
    polls += 1
    const deletedBytes =
      polls % POLLS_PER_DELETED === 0 ? await measureDeletedFiles(folder, pid) : 0
    const isExceeded = await exceedsUsage(folder, limit, deletedBytes)
    if (isStopped) return
    if (isExceeded) onExceeded()
    else schedule()
  }
  // Polls do not overlap: one takes long where there are many files.
  function schedule(): void {
    timer = setTimeout(() => void poll(), USAGE_POLL_MS)
  }
  schedule()
  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** Whether a folder, together with `deletedBytes`, exceeds a limit. */
export async function exceedsUsage(
  folder: string,
  limit: Usage,
  deletedBytes = 0,
): Promise<boolean> {
  const usage = await measure(folder, limit.files)
  return usage.bytes + deletedBytes > limit.bytes || usage.files > limit.files
}

/**
 * Bytes and files of a folder, subfolders included; counting stops above `filesMax`. A sparse file
 * counts with its full size, which is what reading it costs.
 */
async function measure(folder: string, filesMax: number): Promise<Usage> {
  const total: Usage = { bytes: 0, files: 0 }
  const folders = [folder]
  for (let each = folders.pop(); each !== undefined; each = folders.pop()) {
    const entries = await entriesOf(each)
    total.files += entries.length
    if (total.files > filesMax) return total
    for (const entry of entries) {
      const path = join(each, entry.name)
      if (entry.isDirectory()) folders.push(path)
      // A file that was removed meanwhile takes no space.
      const stats = await lstat(path).catch(() => null)
      if (stats) total.bytes += Math.max(stats.size, stats.blocks * BLOCK_BYTES)
    }
  }
  return total
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return await readdir(folder, { withFileTypes: true }).catch(() => [])
}

/** Polls the free space of a folder's disk; `end` stops it and says whether the disk was full. */
export function watchFreeSpace(folder: string): { end(): Promise<boolean> } {
  let wasFull = false
  async function poll(): Promise<void> {
    const { bavail, bsize } = await statfs(folder)
    wasFull ||= bavail * bsize < FREE_BYTES_MIN
  }
  // A failed poll is ignored: the folder may have been removed.
  const timer = setInterval(() => void poll().catch(() => undefined), FREE_SPACE_POLL_MS)
  return {
    async end() {
      clearInterval(timer)
      await poll().catch(() => undefined)
      return wasFull
    },
  }
}
