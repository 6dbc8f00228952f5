import { chmodSync, lstatSync, statSync } from "node:fs"
import type { Stats } from "node:fs"
import { findUnsafeFolder, isStickyFolder, CURRENT_USER_ID } from "../../container/unsafe-folder.ts"
import type { UnsafeFolder } from "../../container/unsafe-folder.ts"
import { CliError } from "./cli-error.ts"
import { isSystemError } from "./system-error.ts"

/**
 * Wording of error messages about a folder: the name of the folder's setting as `subject`, and the
 * beginning of the advice to choose another folder as `choose`.
 */
export type FolderErrorWording = { subject: string; choose: string }

export const STATE_DIR_ERROR_WORDING: FolderErrorWording = {
  subject: "STATE_DIR",
  choose: "set STATE_DIR to",
}

/**
 * Removes other users' permissions on a file, and permissions on a folder beyond `folderMode`.
 * Returns the stats of the file or folder; null if neither exists. Throws as `requireOwnFile` does.
 */
export function removeAccessOfOthers(
  path: string,
  folderMode: number,
  name = STATE_DIR_ERROR_WORDING,
): Stats | null {
  const stats = requireOwnFile(path, name)
  if (stats === null || CURRENT_USER_ID === null) return stats
  const allowed = stats.isDirectory() ? folderMode : stats.mode & 0o700
  if ((stats.mode & 0o7777 & ~allowed) !== 0) setFileMode(path, allowed, name)
  return stats
}

/**
 * Returns the stats of a file, folder or socket that belongs to this user; null if the path does
 * not exist. Throws a CliError for another owner, a symbolic link, another type of file, or a
 * folder with the sticky bit, which all users share.
 */
export function requireOwnFile(path: string, name = STATE_DIR_ERROR_WORDING): Stats | null {
  const { choose } = name
  const stats = lookAt(path, name)
  if (stats === null || CURRENT_USER_ID === null) return stats
  if (stats.isSymbolicLink()) {
    throw new CliError(
      `${path} is a symbolic link, and its creator controls its target: replace it by its target, or ${choose} another folder.`,
    )
  }
  if (!stats.isFile() && !stats.isDirectory() && !stats.isSocket()) {
    throw new CliError(
      `${path} is neither a file nor a folder: remove it, or ${choose} another folder.`,
    )
  }
  if (stats.uid !== CURRENT_USER_ID) {
    throw new CliError(
      `${path} belongs to user ${stats.uid}, and this runs as user ${CURRENT_USER_ID}, so its content is not trusted: run this as user ${stats.uid}, remove it, or ${choose} a folder of your own. If you trust it, change its owner with chown.`,
    )
  }
  if (stats.isDirectory() && isStickyFolder(stats)) {
    throw new CliError(`${path} is a folder that all users share: ${choose} another folder.`)
  }
  return stats
}

/**
 * Sets the mode of a file or folder of this user. Throws a CliError if the file system ignores the
 * mode.
 */
export function setFileMode(path: string, mode: number, name = STATE_DIR_ERROR_WORDING): void {
  try {
    chmodSync(path, mode)
  } catch (error) {
    // Ignores a file that a running service has removed meanwhile.
    if (!isSystemError(error, "ENOENT")) throw error
  }
  if (((lookAt(path, name)?.mode ?? mode) & 0o777 & ~mode) === 0) return
  throw new CliError(
    `${path} is open to others, and its file system keeps no permissions: ${name.choose} a folder elsewhere.`,
  )
}

/**
 * Throws a CliError if other users may change a folder above this path, because they could then
 * replace the folder at the path.
 */
export function requireSafeParentFolders(path: string, name = STATE_DIR_ERROR_WORDING): void {
  const found = findChangerAbove(path, name)
  if (found === null) return
  const { folder, changer } = found
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new CliError(`${name.subject} cannot be used: ${folder} is no folder.`)
  }
  throw new CliError(
    `${folder} may be changed by ${changer}, who could replace ${path}: ${name.choose} a folder that is only below folders of yours and of root's, or close ${folder} (chmod go-w).`,
  )
}

function findChangerAbove(path: string, name: FolderErrorWording): UnsafeFolder | null {
  try {
    return findUnsafeFolder(path)
  } catch (error) {
    throw unusableFolderError(name, error)
  }
}

function lookAt(path: string, name: FolderErrorWording): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null
    throw unusableFolderError(name, error)
  }
}

/** Returns an error for a folder that does not exist or cannot be read. */
export function unusableFolderError({ subject }: FolderErrorWording, error: unknown): CliError {
  return new CliError(`${subject} cannot be used: ${String(error)}`, { cause: error })
}
