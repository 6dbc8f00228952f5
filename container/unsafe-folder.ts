import { lstatSync, realpathSync } from "node:fs"
import type { Stats } from "node:fs"
import { dirname, join } from "node:path"

const CLONE = realpathSync(join(import.meta.dirname, ".."))
const STICKY = 0o1000
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002

/**
 * Folder whose entries may be replaced by a user or group other than root and the user of this
 * process. `changer` describes that user or group.
 */
export type UnsafeFolder = { folder: string; changer: string }

/**
 * User id of this process; null on a system without user ids. On such a system, folders are not
 * checked.
 */
export const CURRENT_USER_ID = process.getuid?.() ?? null

/**
 * Returns the first folder above a path whose entries another user may replace; null if there is no
 * such folder. Skips folders that contain the code of this process, since a user who can change
 * these folders can change the code anyway.
 */
export function findUnsafeFolder(path: string): UnsafeFolder | null {
  if (CURRENT_USER_ID === null) return null
  for (const folder of foldersAbove(path)) {
    const stats = readStats(folder)
    const changer = stats && findChanger(stats)
    if (changer === null || folder === CLONE || CLONE.startsWith(join(folder, "/"))) continue
    return { folder, changer }
  }
  return null
}

/**
 * Reports whether a folder is sticky, like /tmp: only the owner of an entry or of the folder may
 * remove the entry.
 */
export function isStickyFolder(stats: Stats): boolean {
  return (stats.mode & STICKY) !== 0
}

/**
 * Describes the user or group, other than root and the user of this process, that may replace
 * entries of a folder or the target of a link. Returns null if there is none.
 */
function findChanger(stats: Stats): string | null {
  const { uid, gid, mode } = stats
  // Counts the owner of "/" as root, since root may have another user id than 0 in a user
  // namespace.
  if (uid !== 0 && uid !== CURRENT_USER_ID && uid !== readStats("/")?.uid) return `user ${uid}`
  if (stats.isSymbolicLink() || isStickyFolder(stats)) return null
  if ((mode & OTHERS_WRITE) !== 0) return "every user"
  // Accepts a group whose id equals the user id, since many systems create such a group for each
  // user.
  return (mode & GROUP_WRITES) !== 0 && gid !== 0 && gid !== CURRENT_USER_ID ? `group ${gid}` : null
}

/**
 * Returns the folders above a path: the folders that the path names and, for existing folders, the
 * folders with all links resolved.
 */
function foldersAbove(path: string): string[] {
  const written = chainOf(dirname(path))
  const existing = written.findLast((folder) => readStats(folder) !== null) ?? "/"
  return [...new Set([...written, ...chainOf(realpathSync(existing))])]
}

/** Returns a folder and all folders above it, the topmost folder first. */
function chainOf(folder: string): string[] {
  return folder === dirname(folder) ? [folder] : [...chainOf(dirname(folder)), folder]
}

function readStats(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null
}
