import { open, readdir } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import {
  chownSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openAsBlob,
  openSync,
  readFileSync,
  realpathSync,
} from "node:fs"
import type { Stats } from "node:fs"
import type { FileHandle } from "node:fs/promises"
import { RunnerError } from "../failures.ts"
import { findFolderChanger } from "../folder-changer.ts"
import { makeFolders } from "../make-folders.ts"
import { removeTree } from "./remove-tree.ts"

/** Others may enter a workspace whose name they know, but not list the folder. */
const WORK_DIR_MODE = 0o711
const WORKSPACE_NAME = /^[0-9a-f-]{36}\.[0-9]+$/

/** Opens no link, and waits for no pipe. */
const PLAIN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Makes the work folder where there is none; a sentence where there can be none, or where somebody else
 * may change it, else null.
 */
export function openWorkDir(workDir: string): string | null {
  try {
    makeFolders(workDir, WORK_DIR_MODE)
  } catch (error) {
    return `WORK_DIR cannot be used: ${String(error)}`
  }
  const found = findFolderChanger(join(resolve(workDir), "workspace"))
  if (found === null) return null
  const { folder, changer } = found
  return (
    `${folder} may be changed by ${changer}, who could exchange what tasks have in ${workDir}: set ` +
    "WORK_DIR to a folder that is only below folders of yours and of root's, or close " +
    `${folder} (chmod go-w).`
  )
}

/**
 * Makes the folder of one run, which only its owner may enter, and returns its absolute path. The
 * owner is `uid`, the user of the run's tools; null leaves it to the runner's own user.
 */
export async function makeWorkspace(
  workDir: string,
  run: { taskId: string; fence: number },
  uid: number | null,
): Promise<string> {
  // Each takes some microseconds, and a tenth of a millisecond where it is handed to a thread.
  mkdirSync(workDir, { recursive: true, mode: WORK_DIR_MODE })
  const path = join(realpathSync(workDir), workspaceName(run))
  await removeTree(path)
  mkdirSync(path, { mode: 0o700 })
  if (uid !== null) chownSync(path, uid, uid)
  return path
}

/** Name of the folder of one run. */
export function workspaceName({ taskId, fence }: { taskId: string; fence: number }): string {
  return `${taskId}.${fence}`
}

/** Whether a path is that of a workspace of a work folder, whose path is real. */
export function namesWorkspaceOf(workDir: string, path: string): boolean {
  return dirname(path) === workDir && WORKSPACE_NAME.test(basename(path))
}

/** Names of the workspaces in the work folder, which an earlier process has left there. */
export async function findLeftWorkspaces(workDir: string): Promise<string[]> {
  const names = await readdir(workDir)
  return names.filter((each) => WORKSPACE_NAME.test(each))
}

/**
 * Whether the runner may open a file that a tool wrote: no symbolic link, no pipe, no file with
 * several hard links (which may be a file outside the workspace), and none made without the right
 * to read it, which binds a runner that shares its user with the tool.
 */
export function isPlainFile(stats: Stats): boolean {
  return stats.isFile() && stats.nlink === 1 && (stats.mode & constants.S_IRUSR) !== 0
}

/** Path of a file directly in a workspace; throws where the name is a path. */
export function pathIn(workspace: string, name: string): string {
  if (name === "" || name === "." || name === ".." || basename(name) !== name) {
    throw new RunnerError("internal", `The name ${JSON.stringify(name)} is no plain file name.`)
  }
  return join(workspace, name)
}

/** Opens a file that a tool wrote; throws where it is not plain. */
export async function openPlainFile(path: string): Promise<FileHandle> {
  const handle = await open(path, PLAIN_FLAGS)
  if (isPlainFile(await handle.stat())) return handle
  await handle.close()
  throw notPlain(path)
}

/** The bytes of such a file, read at once; null: it has more than `bytesMax`. */
export function readSmallPlainFile(path: string, bytesMax: number): Buffer<ArrayBuffer> | null {
  const file = openSync(path, PLAIN_FLAGS)
  try {
    const stats = fstatSync(file)
    if (!isPlainFile(stats)) throw notPlain(path)
    return stats.size > bytesMax ? null : readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/** The bytes of an open file; on Linux by its descriptor, so that a rename changes nothing. */
export async function blobOf(handle: FileHandle, path: string): Promise<Blob> {
  return await openAsBlob(process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path)
}

function notPlain(path: string): Error {
  return new Error(`${path} is not a plain file.`)
}
