import { statfsSync } from "node:fs"
import { RunnerError } from "../task-failure.ts"

/** Number of free bytes and total number of bytes of a disk. */
export type DiskSizes = { free: number; total: number }

const FREE_SPACE_POLL_MS = 100

/**
 * Number of free bytes below which a disk counts as full, because a write may already have failed.
 */
const FREE_BYTES_MIN = 64 * 1024

/**
 * Returns the free and total bytes of the disk that holds a folder; null if the sizes cannot be
 * read.
 */
export function readDiskSizes(folder: string): DiskSizes | null {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch {
    return null
  }
}

/**
 * Throws a RunnerError with the code `disk_full` if fewer than `bytes` bytes are free on the disk
 * that holds a folder.
 */
export function requireFreeDiskBytes(folder: string, bytes: number): void {
  const disk = readDiskSizes(folder)
  if (disk === null || disk.free >= bytes) return
  throw new RunnerError("disk_full", "The disk currently has no space for the inputs.")
}

/** Reports whether a file system error, or its cause, means that the disk is full. */
export function isDiskFullError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = "code" in error ? error.code : null
  return code === "ENOSPC" || code === "EDQUOT" || isDiskFullError(error.cause)
}

/**
 * Starts to poll the free space of the disk that holds a folder. Calls `onLow` once, when the free
 * space falls below `floorBytes`. `end` stops the polls and reports whether the disk was full at
 * any poll.
 */
export function watchFreeDiskSpace(
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

/**
 * Returns the number of free bytes of the disk that holds a folder. Returns Infinity if the number
 * cannot be read, for example because the folder was removed.
 */
function freeBytesOf(folder: string): number {
  return readDiskSizes(folder)?.free ?? Number.POSITIVE_INFINITY
}
