import { chmod, mkdir, open, readdir, rename, rmdir, unlink } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openAsBlob,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  unlinkSync,
} from "node:fs"
import type { Dirent, Stats } from "node:fs"
import type { FileHandle } from "node:fs/promises"
import { RunnerError } from "../failures.ts"

/** Others may enter a workspace whose name they know, but not list the folder. */
const WORK_DIR_MODE = 0o711
const WORKSPACE_NAME = /^[0-9a-f-]{36}\.[0-9]+$/

/** Opens no link, and waits for no pipe. */
const PLAIN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** So few files, each so small, are removed sooner than a thread could be told to. */
const FEW_FILES_MAX = 32
const SMALL_BYTES_MAX = 16 * 1024 ** 2

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
  await removeWorkspace(path)
  mkdirSync(path, { mode: 0o700 })
  if (uid !== null) chownSync(path, uid, uid)
  return path
}

/** Name of the folder of one run. */
export function workspaceName({ taskId, fence }: { taskId: string; fence: number }): string {
  return `${taskId}.${fence}`
}

/**
 * Removes a workspace with all that is in it, whatever its depth, its names and its modes. A folder
 * in it is emptied by moving its folders up to the top, so that every path stays short.
 */
export async function removeWorkspace(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return
  if (!stats.isDirectory()) return await unlink(path)
  for (let entries = topEntriesOf(path); entries.length > 0; entries = topEntriesOf(path)) {
    const areFew = entries.length <= FEW_FILES_MAX
    for (const entry of entries) {
      const entryPath = below(path, entry.name)
      if (entry.isDirectory()) await removeFolder(entryPath, path)
      else if (areFew && lstatSync(entryPath).size <= SMALL_BYTES_MAX) unlinkSync(entryPath)
      else await unlink(entryPath)
    }
  }
  rmdirSync(path)
}

/** Whether a path is that of a workspace of a work folder, whose path is real. */
export function namesWorkspaceOf(workDir: string, path: string): boolean {
  return dirname(path) === workDir && WORKSPACE_NAME.test(basename(path))
}

/** Names of the workspaces in the work folder, which an earlier process has left there. */
export async function findLeftWorkspaces(workDir: string): Promise<string[]> {
  await mkdir(workDir, { recursive: true, mode: WORK_DIR_MODE })
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

async function removeFolder(path: Buffer, top: string): Promise<void> {
  for (const entry of await entriesOf(path)) {
    const entryPath = below(path, entry.name)
    if (!entry.isDirectory()) {
      await unlink(entryPath)
      continue
    }
    // A folder that moves is written to, since it names its parent.
    await chmod(entryPath, 0o700)
    await rename(entryPath, join(top, crypto.randomUUID()))
  }
  await rmdir(path)
}

/** Names are bytes: one that is no UTF-8 has no string that names the file. */
async function entriesOf(folder: string | Buffer): Promise<Dirent<Buffer>[]> {
  await chmod(folder, 0o700)
  return await readdir(folder, { withFileTypes: true, encoding: "buffer" })
}

/** The same of a workspace, which has few. */
function topEntriesOf(folder: string): Dirent<Buffer>[] {
  chmodSync(folder, 0o700)
  return readdirSync(folder, { withFileTypes: true, encoding: "buffer" })
}

function below(folder: string | Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from("/"), name])
}
