import { z } from "zod"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { logError } from "../log.ts"

/** The disk that holds database and media: bytes that may still be written, and all. */
export type StateDisk = { freeBytes: number; totalBytes: number }

/** Bytes that are about to be written, taken off what others find free until they are released. */
export type HeldSpace = { release(): void }

/** Holds bytes on the disk of the state; null where that would leave less than its reserve. */
export type HoldSpace = (bytes: number) => Promise<HeldSpace | null>

const KNOWN_MS = 1000

const answered = z.object({ free_bytes: z.number(), total_bytes: z.number() })
const nothing: HeldSpace = { release: () => undefined }

/** What the disk was last known to have; on one machine one isolate writes all that is stored. */
let known: { disk: StateDisk; at: number } | null = null
let heldBytes = 0

/** The disk of the state, as of a second ago; null where there is none that can fill up, as in R2. */
export async function readStateDisk(env: Env): Promise<StateDisk | null> {
  if (!env.DISK) return null
  if (known && Date.now() - known.at < KNOWN_MS) return known.disk
  try {
    const answer = await env.DISK.fetch("http://disk/")
    const { free_bytes: freeBytes, total_bytes: totalBytes } = answered.parse(await answer.json())
    known = { disk: { freeBytes, totalBytes }, at: Date.now() }
    return known.disk
  } catch (error) {
    logError("disk.unknown", { error: String(error) })
    return null
  }
}

/** Whether so many bytes would leave the reserve of the disk as it is. */
export async function hasSpace(env: Env, bytes: number): Promise<boolean> {
  const disk = await readStateDisk(env)
  return !disk || disk.freeBytes - heldBytes - bytes >= settingsOf(env).DISK_RESERVE_BYTES
}

/** The way to hold bytes on the disk of an environment. */
export function spaceOf(env: Env): HoldSpace {
  return async (bytes) => {
    if (!env.DISK) return nothing
    if (!(await hasSpace(env, bytes))) return null
    heldBytes += bytes
    return {
      release() {
        heldBytes -= bytes
        // They are on the disk, and what is known of it may be from before.
        if (known) known.disk.freeBytes -= bytes
      },
    }
  }
}
