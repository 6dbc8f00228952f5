import { mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

/**
 * Creates a folder and all missing folders above it. Throws the system error on failure. Node's
 * mkdir with `recursive` is not used, because it would loop forever below a folder that accepts no
 * entries, such as /proc.
 */
export function makeFolderWithParents(path: string, mode: number): void {
  try {
    makeFolder(path, mode)
  } catch (error) {
    const parent = dirname(path)
    const lacksParent = error instanceof Error && "code" in error && error.code === "ENOENT"
    if (!lacksParent || parent === path || exists(parent)) throw error
    makeFolderWithParents(parent, mode)
    makeFolder(path, mode)
  }
}

function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}
