import { existsSync } from "node:fs"
import { lstat, mkdtemp, readdir, rm, rmdir } from "node:fs/promises"
import { join, resolve } from "node:path"
import { openFolderHandle } from "../held-folder.ts"

/**
 * Maximum length of a UNIX socket's path, in bytes. This length works on all systems; Linux allows
 * 107 bytes.
 */
const PATH_BYTES_MAX = 103
/** Length of the longest socket name with its leading slash, in bytes. */
const NAME_BYTES_MAX = 12
const PREFIX = "sockets-"

/** Folder for UNIX sockets. Disposal removes the folder and its sockets. */
export type SocketFolder = AsyncDisposable & {
  /**
   * Path of the folder, short enough for sockets with names of up to 11 bytes. If the real path is
   * too long, this is a shorter path to the same folder.
   */
  path: string
}

/**
 * Creates a folder for sockets inside the folder `ownDir`. Only this user may enter the new folder.
 * `ownDir` must have the sticky bit or not be writable by other users. Throws if the path is too
 * long for sockets and the system offers no shorter path.
 */
export async function createSocketFolder(ownDir: string): Promise<SocketFolder> {
  const folder = await mkdtemp(join(resolve(ownDir), PREFIX))
  const heldFolder = openFolderHandle(folder)
  const path = fitsSockets(folder) ? folder : heldFolder.path
  if (!fitsSockets(path)) {
    await rmdir(folder)
    throw new Error(
      `${ownDir} is too long for the paths of sockets: use a folder with a shorter path.`,
    )
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      heldFolder[Symbol.dispose]()
      await removeSocketFolder(folder)
    },
  }
}

/**
 * Removes the socket folders in `ownDir` that earlier processes of this user left behind because
 * they were killed.
 */
export async function removeAbandonedSocketFolders(ownDir: string): Promise<void> {
  for (const name of await readdir(ownDir)) {
    if (!name.startsWith(PREFIX)) continue
    const path = join(ownDir, name)
    const stats = await lstat(path)
    // Skips folders of other users. A folder of this user contains only sockets, since no other
    // user can write to the folder.
    if (stats.isDirectory() && stats.uid === process.getuid?.()) await removeSocketFolder(path)
  }
}

function fitsSockets(folder: string): boolean {
  return Buffer.byteLength(folder) + NAME_BYTES_MAX <= PATH_BYTES_MAX
}

async function removeSocketFolder(path: string): Promise<void> {
  if (!existsSync(path)) return
  for (const name of await readdir(path)) await rm(join(path, name), { force: true })
  await rmdir(path)
}
