import { constants, openAsBlob } from "node:fs"
import { open } from "node:fs/promises"
import type { FileHandle } from "node:fs/promises"

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * Opens a file that a tool left, and nothing that only looks like one: no link to elsewhere, no
 * second name of another file, no pipe that would never answer. Throws where it is none.
 */
export async function openPlainFile(path: string): Promise<FileHandle> {
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  const facts = await handle.stat()
  if (facts.isFile() && facts.nlink === 1) return handle
  await handle.close()
  throw new Error(`${path} is not a plain file.`)
}

/** The bytes of an open file; on Linux of this very file, whatever becomes of its name. */
export async function blobOf(handle: FileHandle, path: string): Promise<Blob> {
  return await openAsBlob(process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path)
}
