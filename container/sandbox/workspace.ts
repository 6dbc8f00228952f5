import { chmod, chown, mkdir, readdir, realpath, rm, open } from "node:fs/promises"
import { basename, join } from "node:path"
import { constants, openAsBlob } from "node:fs"
import type { FileHandle } from "node:fs/promises"
import { RunnerError } from "../failures.ts"
import { log } from "../log.ts"

/** Others may enter a workspace whose name they know, but not list the folder. */
const WORK_DIR_MODE = 0o711
const WORKSPACE_NAME = /^[0-9a-f-]{36}\.[0-9]+$/

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * Makes the folder of one run, which only its owner may enter, and returns its absolute path. The
 * owner is `uid`, the user of the run's tools; null leaves it to the runner's own user.
 */
export async function makeWorkspace(
  workDir: string,
  run: { taskId: string; fence: number },
  uid: number | null,
): Promise<string> {
  await mkdir(workDir, { recursive: true, mode: WORK_DIR_MODE })
  const path = join(await realpath(workDir), `${run.taskId}.${run.fence}`)
  await removeWorkspace(path)
  await mkdir(path, { mode: 0o700 })
  if (uid !== null) await chown(path, uid, uid)
  return path
}

/** Removes a folder with its contents, read-only folders included. */
export async function removeWorkspace(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 }
  try {
    await rm(path, options)
  } catch {
    await makeWritable(path)
    await rm(path, options)
  }
}

/** Removes the workspaces that an earlier process left in the work folder, and nothing else. */
export async function removeLeftWorkspaces(workDir: string): Promise<void> {
  await mkdir(workDir, { recursive: true, mode: WORK_DIR_MODE })
  const names = await readdir(workDir)
  for (const name of names.filter((each) => WORKSPACE_NAME.test(each))) {
    await removeWorkspace(join(workDir, name))
    log("workspace.removed", { name })
  }
}

/** Path of a file directly in a workspace; throws where the name is a path. */
export function pathIn(workspace: string, name: string): string {
  if (name === "" || name === "." || name === ".." || basename(name) !== name) {
    throw new RunnerError("internal", `The name ${JSON.stringify(name)} is no plain file name.`)
  }
  return join(workspace, name)
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name))
  }
}

/**
 * Opens a regular file that a tool wrote. Throws for a symbolic link, for a file with several hard
 * links (which may be a file outside the workspace) and for a pipe (whose open would block).
 */
export async function openPlainFile(path: string): Promise<FileHandle> {
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  const stats = await handle.stat()
  if (stats.isFile() && stats.nlink === 1) return handle
  await handle.close()
  throw new Error(`${path} is not a plain file.`)
}

/** The bytes of an open file; on Linux by its descriptor, so that a rename changes nothing. */
export async function blobOf(handle: FileHandle, path: string): Promise<Blob> {
  return await openAsBlob(process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path)
}
