import { execFile } from "node:child_process"
import { mkdir, rename } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

/** Moves the content of a folder below `levels` nested folders, through short paths only. */
export async function bury(path: string, levels: number): Promise<void> {
  const inner = join(dirname(path), "inner")
  for (let level = 0; level < levels; level += 1) {
    await rename(path, inner)
    await mkdir(path)
    await rename(inner, join(path, "d".repeat(200)))
  }
}

/**
 * Makes a file impossible to remove, or removable again. Reports whether that worked: it takes root
 * and a file system with that flag.
 */
export async function setImmovable(path: string, isImmovable: boolean): Promise<boolean> {
  return await promisify(execFile)("chattr", [isImmovable ? "+i" : "-i", path]).then(
    () => true,
    () => false,
  )
}
