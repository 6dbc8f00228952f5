import { statfs } from "node:fs/promises"

const LOOK_MS = 100
const FREE_BYTES_MIN = 64 * 1024

/** Looks whether the disk of a folder is ever full up to `end`, which tells. */
export function watchDisk(folder: string): { end(): Promise<boolean> } {
  let wasFull = false
  async function look(): Promise<void> {
    const { bavail, bsize } = await statfs(folder)
    wasFull ||= bavail * bsize < FREE_BYTES_MIN
  }
  // A look that fails says nothing: the folder may be gone already.
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS)
  return {
    async end() {
      clearInterval(timer)
      await look().catch(() => undefined)
      return wasFull
    },
  }
}
