import { randomUUID } from "node:crypto"
import { accessSync, constants, copyFileSync, renameSync, rmSync, statSync } from "node:fs"
import { basename, join, relative, resolve } from "node:path"
import { CliError } from "../local/cli-error.ts"
import type { Demo } from "./demo.ts"

export type DemoPaths = {
  /** Absolute path of the file to work on. */
  source: string
  /** The same as the user wrote it. */
  shownSource: string
  /** Folder that the result goes to. */
  folder: string
}

/** The files that a demo reads and writes; paths are relative to the folder that it was called from. */
export function findPaths(
  { clip, usage }: Pick<Demo, "clip" | "usage">,
  words: string[],
  folder: string,
): DemoPaths {
  const [given, ...rest] = words
  if (rest.length > 0) throw new CliError(`Usage: ${usage}`)
  const source = given === undefined ? clip : resolve(folder, given)
  const shown = given ?? relative(folder, clip)
  requireReadable(source, shown)
  return { source, shownSource: shown, folder }
}

function requireReadable(path: string, shown: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw new CliError(`There is no file ${shown}.`)
  if (!stats.isFile()) throw new CliError(`${shown} is not a file.`)
  if (stats.size === 0) throw new CliError(`${shown} is empty.`)
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    throw new CliError(`${shown} may not be read.`, { cause: error })
  }
}

/**
 * Copies the result to the caller's folder, never over the file that it was made from. A link of the
 * result's name, which somebody else may have put there, is replaced and not followed.
 */
export function keepResult(fetched: string, paths: DemoPaths): string {
  const path = join(paths.folder, basename(fetched))
  if (path === paths.source) {
    throw new CliError(`The result would replace ${paths.shownSource}: rename that file first.`)
  }
  const made = `${path}.${randomUUID()}`
  try {
    copyFileSync(fetched, made, constants.COPYFILE_EXCL)
    renameSync(made, path)
    return path
  } catch (error) {
    rmSync(made, { force: true })
    throw new CliError(`The result cannot be written: ${String(error)}`, { cause: error })
  }
}
