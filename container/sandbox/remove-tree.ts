import { chmodSync, lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs"
import type { Dirent } from "node:fs"
import { chmod, readdir, rename, rmdir, unlink } from "node:fs/promises"
import { join } from "node:path"
import { openFolderHandle } from "../held-folder.ts"

/**
 * Maximum number of files in a folder (`FEW_FILES_MAX`), and maximum size of a file in bytes
 * (`SMALL_BYTES_MAX`), for which synchronous removal is faster than the thread pool.
 */
const FEW_FILES_MAX = 32
const SMALL_BYTES_MAX = 16 * 1024 ** 2

/**
 * Removes a folder with its content, a file, or a symbolic link (not its target). The folder may
 * belong to another user, who may add links during the removal. Therefore each folder is emptied
 * through an open handle, and nothing outside the folder is removed. Throws if a folder is replaced
 * during the removal. Moves nested folders to the top first, so that paths stay short at any depth.
 */
export async function removeTree(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return
  if (!stats.isDirectory()) return await unlink(path)
  await emptyTop(path)
  rmdirSync(path)
}

async function emptyTop(path: string): Promise<void> {
  using top = openFolderHandle(path)
  for (let entries = topEntriesOf(top.path); entries.length > 0; entries = topEntriesOf(top.path)) {
    const areFew = entries.length <= FEW_FILES_MAX
    for (const entry of entries) {
      const entryPath = below(top.path, entry.name)
      if (entry.isDirectory()) await removeFolder(entryPath, top.path)
      else if (areFew && lstatSync(entryPath).size <= SMALL_BYTES_MAX) unlinkSync(entryPath)
      else await unlink(entryPath)
    }
  }
}

async function removeFolder(path: Buffer, top: string): Promise<void> {
  await emptyFolder(path, top)
  await rmdir(path)
}

async function emptyFolder(path: Buffer, top: string): Promise<void> {
  using folder = openFolderHandle(path)
  await chmod(folder.path, 0o700)
  // Reads names as bytes, because a name that is not UTF-8 cannot be represented as a string.
  const options = { withFileTypes: true, encoding: "buffer" } as const
  for (const entry of await readdir(folder.path, options)) {
    const entryPath = below(folder.path, entry.name)
    if (entry.isDirectory()) await moveUp(entryPath, top)
    else await unlink(entryPath)
  }
}

/**
 * Moves a nested folder into the topmost folder of the tree. Makes the folder writable first, since
 * a move changes the entry ".." of the folder.
 */
async function moveUp(path: Buffer, top: string): Promise<void> {
  using folder = openFolderHandle(path)
  await chmod(folder.path, 0o700)
  await rename(path, join(top, crypto.randomUUID()))
}

/**
 * Returns the entries of the topmost folder of the tree. Reads the folder synchronously, because it
 * has few entries and the call takes microseconds.
 */
function topEntriesOf(folder: string): Dirent<Buffer>[] {
  chmodSync(folder, 0o700)
  return readdirSync(folder, { withFileTypes: true, encoding: "buffer" })
}

function below(folder: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), name])
}
