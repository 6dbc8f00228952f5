import { closeSync, constants, openSync } from "node:fs"

/**
 * Linux flag that Node does not define: opens a folder without the right to read it, so that its
 * mode does not matter.
 */
const O_PATH = 0o10000000

/**
 * Open folder. `path` leads to exactly this folder, even after a rename, also in other processes of
 * the same user.
 */
export type HeldFolder = Disposable & { path: string }

/**
 * Opens a folder until disposal; throws ENOTDIR for a symbolic link. Even if another user renames
 * or replaces the folder meanwhile, paths that begin with the returned `path` lead into the folder
 * that was opened. On systems other than Linux, `path` is the given path.
 */
export function holdFolderOpen(path: string | Buffer): HeldFolder {
  if (process.platform !== "linux") {
    return { path: path.toString(), [Symbol.dispose]: () => undefined }
  }
  const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  return { path: `/proc/${process.pid}/fd/${fd}`, [Symbol.dispose]: () => closeSync(fd) }
}
