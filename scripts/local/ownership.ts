import { chmodSync, lstatSync, statSync } from "node:fs"
import type { Stats } from "node:fs"
import { findFolderChanger, isSticky, me } from "../../container/folder-changer.ts"
import type { FolderChanger } from "../../container/folder-changer.ts"
import { CliError } from "./cli-error.ts"
import { isSystemError } from "./system-error.ts"

/** How a refusal names a folder that has to be its user's own, and the way to another one. */
export type FolderName = { subject: string; choose: string }

export const STATE_DIR: FolderName = { subject: "STATE_DIR", choose: "set STATE_DIR to" }

/**
 * Takes from others what they may do with a file, and with a folder beyond `folderMode`, and returns
 * its facts; null where there is nothing. Throws as `requireOwn` does.
 */
export function closeToOthers(path: string, folderMode: number, name = STATE_DIR): Stats | null {
  const stats = requireOwn(path, name)
  if (stats === null || me === null) return stats
  const allowed = stats.isDirectory() ? folderMode : stats.mode & 0o700
  if ((stats.mode & 0o7777 & ~allowed) !== 0) setMode(path, allowed, name)
  return stats
}

/**
 * The facts of a file, folder or socket; null where there is nothing. Throws a CliError where it is
 * not this user's own, or a link, or anything else, or a folder that all users share.
 */
export function requireOwn(path: string, name = STATE_DIR): Stats | null {
  const { choose } = name
  const stats = lookAt(path, name)
  if (stats === null || me === null) return stats
  if (stats.isSymbolicLink()) {
    throw new CliError(
      `${path} is a symbolic link, and whoever made it decides what is trusted: put what it leads to in its place, or ${choose} another folder.`,
    )
  }
  if (!stats.isFile() && !stats.isDirectory() && !stats.isSocket()) {
    throw new CliError(
      `${path} is neither a file nor a folder: remove it, or ${choose} another folder.`,
    )
  }
  if (stats.uid !== me) {
    throw new CliError(
      `${path} belongs to user ${stats.uid}, and this runs as user ${me}, so what it holds is not to be trusted: run this as user ${stats.uid}, remove it, or ${choose} a folder of your own. If you know that it is good, make it yours with chown.`,
    )
  }
  if (stats.isDirectory() && isSticky(stats)) {
    throw new CliError(`${path} is a folder that all users share: ${choose} another folder.`)
  }
  return stats
}

/** Sets the mode of a file or folder of this user; throws a CliError where that has no effect. */
export function setMode(path: string, mode: number, name = STATE_DIR): void {
  try {
    chmodSync(path, mode)
  } catch (error) {
    // A service that is running may have removed it meanwhile.
    if (!isSystemError(error, "ENOENT")) throw error
  }
  if (((lookAt(path, name)?.mode ?? mode) & 0o777 & ~mode) === 0) return
  throw new CliError(
    `${path} is open to others, and its file system keeps no permissions: ${name.choose} a folder elsewhere.`,
  )
}

/**
 * Throws a CliError where somebody else may put another folder in the place of this one, since they
 * may change a folder above it.
 */
export function checkFoldersAbove(path: string, name = STATE_DIR): void {
  const found = findChangerAbove(path, name)
  if (found === null) return
  const { folder, changer } = found
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new CliError(`${name.subject} cannot be used: ${folder} is no folder.`)
  }
  throw new CliError(
    `${folder} may be changed by ${changer}, who could put another folder in the place of ${path}: ${name.choose} a folder that is only below folders of yours and of root's, or close ${folder} (chmod go-w).`,
  )
}

function findChangerAbove(path: string, name: FolderName): FolderChanger | null {
  try {
    return findFolderChanger(path)
  } catch (error) {
    throw cannotBeUsed(name, error)
  }
}

function lookAt(path: string, name: FolderName): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null
    throw cannotBeUsed(name, error)
  }
}

/** Says that the system has no such folder, or shows none of it. */
export function cannotBeUsed({ subject }: FolderName, error: unknown): CliError {
  return new CliError(`${subject} cannot be used: ${String(error)}`, { cause: error })
}
