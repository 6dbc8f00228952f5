import { mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

/**
 * Makes a folder with all that are missing above it; throws the system's error where there can be none.
 * Node's own `recursive` tries for ever below a folder that takes no entries, such as /proc.
 */
export function makeFolders(path: string, mode: number): void {
  try {
    makeOne(path, mode)
  } catch (error) {
    const parent = dirname(path)
    const lacksParent = error instanceof Error && "code" in error && error.code === "ENOENT"
    if (!lacksParent || parent === path || isThere(parent)) throw error
    makeFolders(parent, mode)
    makeOne(path, mode)
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}
