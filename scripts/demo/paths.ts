import { randomUUID } from "node:crypto"
import { accessSync, constants, copyFileSync, renameSync, rmSync, statSync } from "node:fs"
import { basename, join, relative, resolve } from "node:path"
import { CliError } from "../cli/cli-error.ts"

export type DemoPaths = {
  /** Absolute path of the file that the demonstration uploads. */
  source: string
  /** Path of the file as the user wrote it. */
  shownSource: string
  /** Folder into which the result of the demonstration is copied. */
  folder: string
}

/**
 * Returns the paths that a demonstration reads and writes. A path of the user is relative to
 * `folder`, the working folder of the user.
 */
export function findDemoPaths(
  { clip, usage }: { clip: string; usage: string },
  words: string[],
  folder: string,
): DemoPaths {
  const [path, ...rest] = words
  if (rest.length > 0) throw new CliError(`Usage: ${usage}`)
  const source = path === undefined ? clip : resolve(folder, path)
  const shown = path ?? relative(folder, clip)
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
 * Copies the result of the demonstration to the user's folder, and returns the path of the copy.
 * Throws a CliError if the copy would replace the source file. Replaces a symbolic link at the path
 * of the copy, because another user may have made the link.
 */
export function copyDemoResult(fetched: string, paths: DemoPaths): string {
  const path = join(paths.folder, basename(fetched))
  if (path === paths.source) {
    throw new CliError(`The result would replace ${paths.shownSource}: rename that file first.`)
  }
  const temporaryPath = `${path}.${randomUUID()}`
  try {
    copyFileSync(fetched, temporaryPath, constants.COPYFILE_EXCL)
    renameSync(temporaryPath, path)
    return path
  } catch (error) {
    rmSync(temporaryPath, { force: true })
    throw new CliError(`The result cannot be written: ${String(error)}`, { cause: error })
  }
}
