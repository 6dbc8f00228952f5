import { createHash } from "node:crypto"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

/**
 * A folder for a socket that the tool's user may pass through, and not list. It is no part of the
 * work folder, whose path may be longer than that of a socket can be.
 */
export async function makeSocketFolder(
  workDir: string,
): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), socketFolderPrefix(workDir)))
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

/** Removes those that an earlier process with the same work folder was killed beside. */
export async function removeLeftSocketFolders(workDir: string): Promise<void> {
  const prefix = socketFolderPrefix(workDir)
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix))
  // A folder that somebody else made under this name stays.
  await Promise.allSettled(left.map((name) => rm(join(tmpdir(), name), { recursive: true })))
}

/** How the names of the folders of a runner with this work folder begin. */
export function socketFolderPrefix(workDir: string): string {
  const hash = createHash("sha256").update(resolve(workDir)).digest("hex")
  return `lathe-${hash.slice(0, 12)}-`
}
