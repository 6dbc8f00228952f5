import { chmodSync, lstatSync, realpathSync } from "node:fs"
import type { Stats } from "node:fs"
import { dirname, join } from "node:path"
import { CliError } from "./cli-error.ts"
import { isSystemError } from "./system-error.ts"

const CLONE = realpathSync(join(import.meta.dirname, "../.."))
const STICKY = 0o1000
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002

/** Who runs this process; null on a system that has no user ids, where nothing is checked. */
export const me = process.getuid?.() ?? null

/**
 * Takes from others what they may do with a file, and with a folder beyond `folderMode`, and returns
 * its facts; null where there is nothing. Throws a CliError where it is not this user's own, or a
 * link.
 */
export function closeToOthers(path: string, folderMode: number): Stats | null {
  const stats = lookAt(path)
  if (stats === null || me === null) return stats
  if (stats.isSymbolicLink()) {
    throw new CliError(
      `${path} is a symbolic link, and whoever made it decides what is trusted: put what it leads to in its place, or set STATE_DIR to another folder.`,
    )
  }
  if (!stats.isFile() && !stats.isDirectory()) {
    throw new CliError(
      `${path} is neither a file nor a folder: remove it, or set STATE_DIR to another folder.`,
    )
  }
  if (stats.uid !== me) {
    throw new CliError(
      `${path} belongs to user ${stats.uid}, and this runs as user ${me}, so what it holds is not to be trusted: run this as user ${stats.uid}, remove it, or set STATE_DIR to a folder of your own. If you know that it is good, make it yours with chown.`,
    )
  }
  const allowed = stats.isDirectory() ? folderMode : stats.mode & 0o700
  if ((stats.mode & 0o7777 & ~allowed) !== 0) setMode(path, allowed)
  return stats
}

/** Sets the mode of a file or folder of this user; throws a CliError where that has no effect. */
export function setMode(path: string, mode: number): void {
  try {
    chmodSync(path, mode)
  } catch (error) {
    // A service that is running may have removed it meanwhile.
    if (!isSystemError(error, "ENOENT")) throw error
  }
  if (((lookAt(path)?.mode ?? mode) & 0o777 & ~mode) === 0) return
  throw new CliError(
    `${path} is open to others, and its file system keeps no permissions: set STATE_DIR to a folder elsewhere.`,
  )
}

/**
 * Throws a CliError where somebody else may put another folder in the place of this one, since they
 * may change a folder above it. Those that hold the code of this process are left out: who may change
 * them may change the code.
 */
export function checkFoldersAbove(path: string): void {
  if (me === null) return
  for (const folder of foldersAbove(path)) {
    const stats = lookAt(folder)
    const changer = stats && findChanger(stats)
    if (changer === null || folder === CLONE || CLONE.startsWith(join(folder, "/"))) continue
    throw new CliError(
      `${folder} may be changed by ${changer}, who could put another folder in the place of ${path}: set STATE_DIR to a folder that is only below folders of yours and of root's, or close ${folder} (chmod go-w).`,
    )
  }
}

/** Who beside this user and root may exchange what is in a folder; of a link, what it leads to. */
function findChanger(stats: Stats): string | null {
  const { uid, gid, mode } = stats
  // In a user namespace root may have another number; who has "/" may change everything anyway.
  if (uid !== 0 && uid !== me && uid !== lookAt("/")?.uid) return `user ${uid}`
  // In a sticky folder, only the owner of an entry may exchange it.
  if (stats.isSymbolicLink() || (mode & STICKY) !== 0) return null
  if ((mode & OTHERS_WRITE) !== 0) return "every user"
  // A user's own group has the user's number, as many systems make it.
  return (mode & GROUP_WRITES) !== 0 && gid !== 0 && gid !== me ? `group ${gid}` : null
}

/** The folders above a path, as it is written and, where they exist, as they really are. */
function foldersAbove(path: string): string[] {
  const written = chainOf(dirname(path))
  const existing = written.findLast((folder) => lookAt(folder) !== null) ?? "/"
  return [...new Set([...written, ...chainOf(realpathSync(existing))])]
}

/** A folder and all above it, from the topmost down. */
function chainOf(folder: string): string[] {
  return folder === dirname(folder) ? [folder] : [...chainOf(dirname(folder)), folder]
}

function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null
    throw new CliError(`STATE_DIR cannot be used: ${String(error)}`, { cause: error })
  }
}
