import { closeSync, constants, openSync } from "node:fs"

/**
 * Linux flag O_PATH, which Node does not define. The flag opens a folder only as a reference, which
 * succeeds even if the folder's mode forbids to read the folder.
 */
const O_PATH = 0o10000000

/**
 * Folder that is held open. `path` leads to exactly this folder, even after the folder is renamed.
 * Other processes of the same user can use the path too.
 */
export type FolderHandle = Disposable & { path: string }

/**
 * Opens a folder, and keeps the folder open until the handle is disposed of. Throws ENOTDIR for a
 * symbolic link. Paths that begin with the `path` of the handle lead into the opened folder, even
 * if another user renames or replaces the folder meanwhile. On systems other than Linux, `path` of
 * the handle is the given path.
 */
export function openFolderHandle(path: string | Buffer): FolderHandle {
  if (process.platform !== "linux") {
    return { path: path.toString(), [Symbol.dispose]: () => undefined }
  }
  const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  return { path: `/proc/${process.pid}/fd/${fd}`, [Symbol.dispose]: () => closeSync(fd) }
}
