import { chmod, chown, mkdir, readdir, realpath, rm } from "node:fs/promises"
import { basename, join } from "node:path"
import { log } from "./log.ts"
import { RunnerError } from "./runner-error.ts"

/** Whoever passes through must know the name of a workspace, and be its owner. */
const WORK_DIR_MODE = 0o711
const NAME = /^[0-9a-f-]{36}\.[0-9]+$/

/**
 * Makes the folder of one run, for its owner only; answers its absolute path. The owner is the user
 * of its tools where they have one, which must be able to pass through the work folder.
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

/** Removes a folder and all that is in it, folders that were made read-only included. */
export async function removeWorkspace(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 }
  try {
    await rm(path, options)
  } catch {
    await makeWritable(path)
    await rm(path, options)
  }
}

/** Removes what an earlier process left in the work folder, and nothing that is not a workspace. */
export async function removeLeftWorkspaces(workDir: string): Promise<void> {
  await mkdir(workDir, { recursive: true, mode: WORK_DIR_MODE })
  const names = await readdir(workDir)
  for (const name of names.filter((each) => NAME.test(each))) {
    await removeWorkspace(join(workDir, name))
    log("workspace.removed", { name })
  }
}

/** Path of a file that lies directly in a workspace; throws where the name leads elsewhere. */
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
