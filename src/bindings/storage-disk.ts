import { z } from "zod"
import { getSettings } from "./env.ts"
import type { Env } from "./env.ts"
import { logError } from "../platform/log.ts"

/** Size and free space of the disk with the database and media, in bytes. */
export type StorageDiskSpace = { freeBytes: number; totalBytes: number }

/**
 * Reservation of disk space for bytes that are about to be written. The reserved bytes count as
 * used until the release.
 */
export type DiskSpaceReservation = { release(): void }

/**
 * Function that reserves bytes on the disk. Returns null if the bytes would use a part of the
 * reserve DISK_RESERVE_BYTES.
 */
export type DiskSpaceReserver = (bytes: number) => Promise<DiskSpaceReservation | null>

const KNOWN_MS = 1000

const diskAnswer = z.object({ free_bytes: z.number(), total_bytes: z.number() })
const nothing: DiskSpaceReservation = { release: () => undefined }

/**
 * Last read state of the storage disk, and the time of the read. Only one isolate writes to the
 * disk, so this isolate can subtract the bytes that it writes.
 */
let cached: { disk: StorageDiskSpace; at: number } | null = null
let heldBytes = 0

/**
 * Returns the size and free space of the disk with the database and media, at most a second old.
 * Returns null on R2, which cannot fill up, or if the disk's state cannot be read.
 */
export async function readStorageDiskSpace(env: Env): Promise<StorageDiskSpace | null> {
  if (!env.DISK) return null
  if (cached && Date.now() - cached.at < KNOWN_MS) return cached.disk
  try {
    const answer = await env.DISK.fetch("http://disk/")
    const { free_bytes: freeBytes, total_bytes: totalBytes } = diskAnswer.parse(await answer.json())
    cached = { disk: { freeBytes, totalBytes }, at: Date.now() }
    return cached.disk
  } catch (error) {
    logError("disk.unknown", { error: String(error) })
    return null
  }
}

/**
 * Reports whether the disk has room for a number of bytes without using the reserve
 * DISK_RESERVE_BYTES.
 */
export async function hasDiskSpace(env: Env, bytes: number): Promise<boolean> {
  const disk = await readStorageDiskSpace(env)
  return !disk || disk.freeBytes - heldBytes - bytes >= getSettings(env).DISK_RESERVE_BYTES
}

/** Returns a function that reserves bytes on the disk of an environment. */
export function makeDiskSpaceReserver(env: Env): DiskSpaceReserver {
  return async (bytes) => {
    if (!env.DISK) return nothing
    if (!(await hasDiskSpace(env, bytes))) return null
    heldBytes += bytes
    return {
      release() {
        heldBytes -= bytes
        // The reserved bytes may have been written after the last read of the free space, so
        // subtract them.
        if (cached) cached.disk.freeBytes -= bytes
      },
    }
  }
}
