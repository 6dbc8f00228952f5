import { lstatSync, realpathSync } from "node:fs"
import type { Stats } from "node:fs"
import { dirname, join } from "node:path"

const CLONE = realpathSync(join(import.meta.dirname, ".."))
const STICKY = 0o1000
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002

/** A folder, and in words the user or group beside this user and root that may exchange what is in it. */
export type FolderChanger = { folder: string; changer: string }

/** The user id of this process; null on a system that has none, where nothing is checked. */
export const me = process.getuid?.() ?? null

/**
 * Finds a folder above a path that another user may change, who could put another file or folder in the
 * place of the path; null where there is none. Folders that hold the code of this process are left out:
 * a user who may change those may change the code.
 */
export function findFolderChanger(path: string): FolderChanger | null {
  if (me === null) return null
  for (const folder of foldersAbove(path)) {
    const stats = lookAt(folder)
    const changer = stats && findChanger(stats)
    if (changer === null || folder === CLONE || CLONE.startsWith(join(folder, "/"))) continue
    return { folder, changer }
  }
  return null
}

/** Whether only the owner of an entry, or of the folder, may remove the entry: as in /tmp. */
export function isSticky(stats: Stats): boolean {
  return (stats.mode & STICKY) !== 0
}

/** The user or group that may exchange what is in a folder, or what a link leads to; else null. */
function findChanger(stats: Stats): string | null {
  const { uid, gid, mode } = stats
  // In a user namespace root may have another number; who has "/" may change everything anyway.
  if (uid !== 0 && uid !== me && uid !== lookAt("/")?.uid) return `user ${uid}`
  if (stats.isSymbolicLink() || isSticky(stats)) return null
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
  return lstatSync(path, { throwIfNoEntry: false }) ?? null
}
