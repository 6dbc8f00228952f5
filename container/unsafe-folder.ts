import { lstatSync, realpathSync } from "node:fs"
import type { Stats } from "node:fs"
import { dirname, join } from "node:path"

const CLONE = realpathSync(join(import.meta.dirname, ".."))
const STICKY = 0o1000
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002

/**
 * Folder, and a description of the user or group that may replace its entries although it is
 * neither this user nor root.
 */
export type UnsafeFolder = { folder: string; changer: string }

/** User id of this process; null on a system without user ids, where no folder is checked. */
export const processUid = process.getuid?.() ?? null

/**
 * Returns a folder above a path in which another user may replace a part of the path; null if there
 * is none. Skips folders that contain the code of this process: a user who may change these folders
 * may change the code anyway.
 */
export function findUnsafeFolder(path: string): UnsafeFolder | null {
  if (processUid === null) return null
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
 * Describes the user or group, other than this user and root, that may replace entries of a folder
 * or the target of a link. Returns null if there is none.
 */
function findChanger(stats: Stats): string | null {
  const { uid, gid, mode } = stats
  // The owner of "/" counts as root, which may have another user id in a user namespace.
  if (uid !== 0 && uid !== processUid && uid !== readStats("/")?.uid) return `user ${uid}`
  if (stats.isSymbolicLink() || isStickyFolder(stats)) return null
  if ((mode & OTHERS_WRITE) !== 0) return "every user"
  // On many systems each user has a group with the same id, and such a group is accepted.
  return (mode & GROUP_WRITES) !== 0 && gid !== 0 && gid !== processUid ? `group ${gid}` : null
}

/**
 * Returns the folders above a path: as the path names them and, for existing folders, with links
 * resolved.
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
