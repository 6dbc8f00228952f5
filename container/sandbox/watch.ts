import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import type { Dirent } from "node:fs"
import { measureHeldFiles } from "./held-files.ts"

const LOOK_MS = 200
/** What is held is looked for in one of so many looks, since the process waits while it is listed. */
const LOOKS_FOR_HELD = 5
const BLOCK_BYTES = 512

export type Usage = { bytes: number; files: number }

/**
 * Looks five times a second what a folder holds, and once a second what the process that works there
 * holds beside it; calls back once where that is too much.
 */
export function watchUsage(
  { folder, pid }: { folder: string; pid: number | undefined },
  most: Usage,
  onExceeded: () => void,
): { stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let looks = 0
  async function look(): Promise<void> {
    looks += 1
    const heldBytes = looks % LOOKS_FOR_HELD === 0 ? await measureHeldFiles(folder, pid) : 0
    const isTooMuch = await holdsMore(folder, most, heldBytes)
    if (isStopped) return
    if (isTooMuch) onExceeded()
    else wait()
  }
  // The next look waits for the one before, which takes long where there are many files.
  function wait(): void {
    timer = setTimeout(() => void look(), LOOK_MS)
  }
  wait()
  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** Whether a folder holds more than it may, together with what is held elsewhere. */
export async function holdsMore(folder: string, most: Usage, heldBytes = 0): Promise<boolean> {
  const usage = await measure(folder, most.files)
  return usage.bytes + heldBytes > most.bytes || usage.files > most.files
}

/**
 * Bytes and files of a folder, its folders counted; it stops counting above `filesMax`. A file with
 * holes takes little space, but whoever reads it gets all of its size.
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
      // What is gone since takes no space.
      const facts = await lstat(path).catch(() => null)
      if (facts) total.bytes += Math.max(facts.size, facts.blocks * BLOCK_BYTES)
    }
  }
  return total
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return await readdir(folder, { withFileTypes: true }).catch(() => [])
}
