import { execFile } from "node:child_process"
import { mkdir, rename } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

/** Puts what is in a folder below so many others; each path that this takes is short. */
export async function bury(path: string, levels: number): Promise<void> {
  const inner = join(dirname(path), "inner")
  for (let level = 0; level < levels; level += 1) {
    await rename(path, inner)
    await mkdir(path)
    await rename(inner, join(path, "d".repeat(200)))
  }
}

/**
 * Lets nobody remove a file, or somebody again. Answers whether that could be set, which takes root
 * and a file system that knows the flag.
 */
export async function setImmovable(path: string, isImmovable: boolean): Promise<boolean> {
  return await promisify(execFile)("chattr", [isImmovable ? "+i" : "-i", path]).then(
    () => true,
    () => false,
  )
}
