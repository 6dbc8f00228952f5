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
import { RunnerError } from "../task-failure.ts"
import { findUnsafeFolder } from "../unsafe-folder.ts"
import { makeFolderWithParents } from "../make-folders.ts"
import { removeTree } from "./remove-tree.ts"

/**
 * Mode of the work folder. Other users can reach a workspace by its name, but cannot list the
 * folder.
 */
const WORK_DIR_MODE = 0o711
const WORKSPACE_NAME = /^[0-9a-f-]{36}\.[0-9]+$/

/**
 * Flags for opening a file that a tool wrote. With these flags, symbolic links are not followed,
 * and opening a named pipe does not block.
 */
const PLAIN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Creates the work folder, which contains the workspaces of all runs, unless the folder exists.
 * Returns null, or an error sentence if the folder cannot be created or another user can change the
 * folder.
 */
export function prepareWorkDir(workDir: string): string | null {
  try {
    makeFolderWithParents(workDir, WORK_DIR_MODE)
  } catch (error) {
    return `WORK_DIR cannot be used: ${String(error)}`
  }
  const found = findUnsafeFolder(join(resolve(workDir), "workspace"))
  if (found === null) return null
  const { folder, changer } = found
  return (
    `${folder} may be changed by ${changer}, who could replace files of tasks in ${workDir}: set ` +
    "WORK_DIR to a folder that is only below folders of yours and of root's, or close " +
    `${folder} (chmod go-w).`
  )
}

/**
 * Creates the workspace of one run, and returns the absolute path of the workspace. Only the owner
 * may enter the workspace. The owner is `uid`, the user of the run's tools; if `uid` is null, the
 * owner is the user of the runner.
 */
export async function createWorkspace(
  workDir: string,
  run: { taskId: string; fence: number },
  uid: number | null,
): Promise<string> {
  // Uses synchronous calls, which take microseconds, since a call on the thread pool takes a tenth
  // of a millisecond.
  mkdirSync(workDir, { recursive: true, mode: WORK_DIR_MODE })
  const path = join(realpathSync(workDir), workspaceName(run))
  await removeTree(path)
  mkdirSync(path, { mode: 0o700 })
  if (uid !== null) chownSync(path, uid, uid)
  return path
}

/** Returns the name of a run's workspace in the work folder. */
export function workspaceName({ taskId, fence }: { taskId: string; fence: number }): string {
  return `${taskId}.${fence}`
}

/**
 * Reports whether a path is a workspace in a work folder. `workDir` must be a real path without
 * links.
 */
export function isWorkspacePath(workDir: string, path: string): boolean {
  return dirname(path) === workDir && WORKSPACE_NAME.test(basename(path))
}

/** Returns the names of the workspaces that an earlier runner process left in the work folder. */
export async function findAbandonedWorkspaces(workDir: string): Promise<string[]> {
  const names = await readdir(workDir)
  return names.filter((each) => WORKSPACE_NAME.test(each))
}

/**
 * Reports whether the runner may open a file that a tool wrote. The file must be a regular file and
 * have a single hard link, since a second link could belong to a file outside the workspace. The
 * owner must be able to read the file, since a runner that is not root runs as the tool's user.
 */
export function isToolFileSafeToOpen(stats: Stats): boolean {
  return stats.isFile() && stats.nlink === 1 && (stats.mode & constants.S_IRUSR) !== 0
}

/** Returns the path of a file in a workspace. Throws if `name` is not a plain file name. */
export function buildWorkspacePath(workspace: string, name: string): string {
  if (name === "" || name === "." || name === ".." || basename(name) !== name) {
    throw new RunnerError("internal", `The name ${JSON.stringify(name)} is not a plain file name.`)
  }
  return join(workspace, name)
}

/** Opens a file that a tool wrote. Throws unless `isToolFileSafeToOpen` accepts the file. */
export async function openToolWrittenFile(path: string): Promise<FileHandle> {
  const handle = await open(path, PLAIN_FLAGS)
  if (isToolFileSafeToOpen(await handle.stat())) return handle
  await handle.close()
  throw notPlain(path)
}

/**
 * Reads synchronously a file that a tool wrote. Throws unless `isToolFileSafeToOpen` accepts the
 * file. Returns null if the file has more than `bytesMax` bytes.
 */
export function readSmallToolWrittenFile(
  path: string,
  bytesMax: number,
): Buffer<ArrayBuffer> | null {
  const file = openSync(path, PLAIN_FLAGS)
  try {
    const stats = fstatSync(file)
    if (!isToolFileSafeToOpen(stats)) throw notPlain(path)
    return stats.size > bytesMax ? null : readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Returns an open file as a Blob. On Linux, the Blob reads the file through its file descriptor, so
 * a rename of the file has no effect.
 */
export async function readToolWrittenFileAsBlob(handle: FileHandle, path: string): Promise<Blob> {
  return await openAsBlob(process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path)
}

function notPlain(path: string): Error {
  return new Error(`${path} is not a plain file.`)
}
