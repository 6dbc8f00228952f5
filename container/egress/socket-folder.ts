import { existsSync } from "node:fs"
import { lstat, mkdtemp, readdir, rm, rmdir } from "node:fs/promises"
import { join, resolve } from "node:path"
import { holdFolder } from "../held-folder.ts"

/** Bytes that the path of a socket may have on every system: 107 on Linux, 103 elsewhere. */
const PATH_BYTES_MAX = 103
/** Bytes of the longest name of a socket, and of the slash before that name. */
const NAME_BYTES_MAX = 12
const PREFIX = "sockets-"

/** A folder for sockets, which is removed with them when it is disposed of. */
export type SocketFolder = AsyncDisposable & {
  /** Short enough for sockets with names of at most 11 bytes, also where `ownDir` is not. */
  path: string
}

/**
 * Makes a folder in `ownDir` that only this user may enter. No other user may write to `ownDir`, unless
 * it is sticky. Throws where its path is too long for sockets on a system that has no shorter one.
 */
export async function makeSocketFolder(ownDir: string): Promise<SocketFolder> {
  const folder = await mkdtemp(join(resolve(ownDir), PREFIX))
  const held = holdFolder(folder)
  const path = fitsSockets(folder) ? folder : held.path
  if (!fitsSockets(path)) {
    await rmdir(folder)
    throw new Error(`${ownDir} is too long a path for sockets: name a folder with a shorter one.`)
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      held[Symbol.dispose]()
      await removeSocketFolder(folder)
    },
  }
}

/** Removes the folders for sockets that an earlier process of this user left in `ownDir` when it was killed. */
export async function removeLeftSocketFolders(ownDir: string): Promise<void> {
  for (const name of await readdir(ownDir)) {
    if (!name.startsWith(PREFIX)) continue
    const path = join(ownDir, name)
    const stats = await lstat(path)
    // Another user has written to no such folder, and only sockets are in it.
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
