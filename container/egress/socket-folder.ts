import { createHash } from "node:crypto"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

/**
 * A new folder for the sockets of whoever alone uses `ownDir`. It is no part of that, whose path may
 * be longer than that of a socket can be. Only this user may enter it, until its mode is changed.
 */
export async function makeSocketFolder(
  ownDir: string,
): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), socketFolderPrefix(ownDir)))
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

/** Removes those that an earlier process with the same folder was killed beside. */
export async function removeLeftSocketFolders(ownDir: string): Promise<void> {
  const prefix = socketFolderPrefix(ownDir)
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix))
  // A folder that somebody else made under this name stays.
  await Promise.allSettled(left.map((name) => rm(join(tmpdir(), name), { recursive: true })))
}

/** How the names of the folders of a process with this folder begin. */
export function socketFolderPrefix(ownDir: string): string {
  const hash = createHash("sha256").update(resolve(ownDir)).digest("hex")
  return `lathe-${hash.slice(0, 12)}-`
}
