import { chmodSync, lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs"
import type { Dirent } from "node:fs"
import { chmod, readdir, rename, rmdir, unlink } from "node:fs/promises"
import { join } from "node:path"
import { holdFolder } from "../held-folder.ts"

/** So few files, each so small, are removed sooner than a thread could be told to. */
const FEW_FILES_MAX = 32
const SMALL_BYTES_MAX = 16 * 1024 ** 2

/**
 * Removes a folder with all that is in it, whatever its depth, its names and its modes, or a file, or
 * a link as such. The folder may belong to another user, who puts links into it meanwhile: each
 * folder is emptied as it was opened, so that nothing outside is removed. Throws where a folder
 * became something else. A folder inside moves its own folders up to the top, so that every path
 * stays short.
 */
export async function removeTree(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return
  if (!stats.isDirectory()) return await unlink(path)
  await emptyTop(path)
  rmdirSync(path)
}

async function emptyTop(path: string): Promise<void> {
  using top = holdFolder(path)
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
  using folder = holdFolder(path)
  await chmod(folder.path, 0o700)
  // Names are bytes: one that is no UTF-8 has no string that names the file.
  const options = { withFileTypes: true, encoding: "buffer" } as const
  for (const entry of await readdir(folder.path, options)) {
    const entryPath = below(folder.path, entry.name)
    if (entry.isDirectory()) await moveUp(entryPath, top)
    else await unlink(entryPath)
  }
}

/** A folder that moves is written to, since it names its parent. */
async function moveUp(path: Buffer, top: string): Promise<void> {
  using folder = holdFolder(path)
  await chmod(folder.path, 0o700)
  await rename(path, join(top, crypto.randomUUID()))
}

/** The entries of the topmost folder, which are few: each call takes some microseconds. */
function topEntriesOf(folder: string): Dirent<Buffer>[] {
  chmodSync(folder, 0o700)
  return readdirSync(folder, { withFileTypes: true, encoding: "buffer" })
}

function below(folder: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), name])
}
