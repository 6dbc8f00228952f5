import { closeSync, constants, openSync } from "node:fs"

/** Flag of Linux that Node does not name: opens a folder as a place alone, whatever its mode is. */
const O_PATH = 0o10000000

/** A folder that is held open. Its `path` leads to this very folder, for other processes of its user too. */
export type HeldFolder = Disposable & { path: string }

/**
 * Holds a folder until it is disposed of; throws ENOTDIR for a link. Another user may rename or
 * replace the folder meanwhile: paths that begin with `path` stay below the folder that was opened.
 * Systems other than Linux have no such paths, and get the path that was given.
 */
export function holdFolder(path: string | Buffer): HeldFolder {
  if (process.platform !== "linux") {
    return { path: path.toString(), [Symbol.dispose]: () => undefined }
  }
  const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  return { path: `/proc/${process.pid}/fd/${fd}`, [Symbol.dispose]: () => closeSync(fd) }
}
