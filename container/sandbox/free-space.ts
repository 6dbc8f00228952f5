import { statfsSync } from "node:fs"
import { RunnerError } from "../failures.ts"

/** Bytes of a disk: those that may still be written, and all. */
export type DiskBytes = { free: number; total: number }

const FREE_SPACE_POLL_MS = 100

/** With less than this a write may have failed already. */
const FREE_BYTES_MIN = 64 * 1024

/** The disk that a folder is on; null where that cannot be said. */
export function diskOf(folder: string): DiskBytes | null {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch {
    return null
  }
}

/** Throws where a folder's disk has less than so many bytes free. */
export function requireFreeBytes(folder: string, bytes: number): void {
  const disk = diskOf(folder)
  if (disk === null || disk.free >= bytes) return
  throw new RunnerError("disk_full", "The disk has no room for the inputs at the moment.")
}

/** Whether an error of a file system, or the cause of one, says that the disk is full. */
export function isFullError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = "code" in error ? error.code : null
  return code === "ENOSPC" || code === "EDQUOT" || isFullError(error.cause)
}

/**
 * Polls the free space of a folder's disk, and calls back once when it is below `floorBytes`. `end`
 * stops that and says whether the disk had no space left at all.
 */
export function watchFreeSpace(
  folder: string,
  floorBytes: number,
  onLow: () => void,
): { end(): boolean } {
  let wasFull = false
  let wasLow = false
  function poll(): void {
    const freeBytes = freeBytesOf(folder)
    wasFull ||= freeBytes < FREE_BYTES_MIN
    if (wasLow || freeBytes >= floorBytes) return
    wasLow = true
    onLow()
  }
  const timer = setInterval(poll, FREE_SPACE_POLL_MS)
  return {
    end() {
      clearInterval(timer)
      wasFull ||= freeBytesOf(folder) < FREE_BYTES_MIN
      return wasFull
    },
  }
}

/** A disk that cannot be asked is not taken for full: the folder may have been removed. */
function freeBytesOf(folder: string): number {
  return diskOf(folder)?.free ?? Number.POSITIVE_INFINITY
}
