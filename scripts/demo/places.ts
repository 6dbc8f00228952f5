import { accessSync, constants, copyFileSync, statSync } from "node:fs"
import { basename, join, relative, resolve } from "node:path"
import { Complaint } from "../local/complaint.ts"

const CLIP = join(import.meta.dirname, "clip.mp4")

export type Places = {
  /** Absolute path of the file to work on. */
  source: string
  /** The same as a person would write it. */
  shownSource: string
  /** Folder that the result goes to. */
  folder: string
}

/** Where the demo reads and writes: paths are those of the folder that it was called from. */
export function findPlaces(words: string[], folder: string): Places {
  const [given, ...rest] = words
  if (rest.length > 0) throw new Complaint("Usage: npm run demo [-- FILE]")
  const source = given === undefined ? CLIP : resolve(folder, given)
  const shown = given ?? relative(folder, CLIP)
  requireReadable(source, shown)
  return { source, shownSource: shown, folder }
}

function requireReadable(path: string, shown: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw new Complaint(`There is no file ${shown}.`)
  if (!stats.isFile()) throw new Complaint(`${shown} is not a file.`)
  if (stats.size === 0) throw new Complaint(`${shown} is empty.`)
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    throw new Complaint(`${shown} may not be read.`, { cause: error })
  }
}

/** Copies the result to the caller's folder, never over the file that it was made from. */
export function keepResult(fetched: string, places: Places): string {
  const path = join(places.folder, basename(fetched))
  if (path === places.source) {
    throw new Complaint(`The result would replace ${places.shownSource}: rename that file first.`)
  }
  try {
    copyFileSync(fetched, path)
    return path
  } catch (error) {
    throw new Complaint(`The result cannot be written: ${String(error)}`, { cause: error })
  }
}
