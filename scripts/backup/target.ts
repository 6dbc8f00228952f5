import { mkdirSync, readdirSync, realpathSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { CliError } from "../local/cli-error.ts"
import { cannotBeUsed, checkFoldersAbove, requireOwn } from "../local/ownership.ts"
import { closeStateFolder, writeWhole } from "../local/state-folder.ts"
import { isSystemError } from "../local/system-error.ts"

/** A file that says that a folder holds a backup, which the next one may change. */
export const MARK = "lathe-backup.json"

const CLOSED = 0o700
const TARGET = { subject: "The folder of the backup", choose: "back up to" }

/**
 * Makes the folder that a backup of a state folder goes to, or closes one that is there to everybody
 * else with all that it holds; returns its real path. Throws a CliError where the folder above is
 * missing, where somebody else has made any of it, or may, and where it holds anything but a backup.
 */
export function openTarget(path: string, stateDir: string): string {
  const target = join(findParent(path), basename(path))
  if (target === stateDir || target.startsWith(join(stateDir, "/"))) {
    throw new CliError(`${path} is in ${stateDir} itself: name another folder.`)
  }
  checkFoldersAbove(path, TARGET)
  makeFolder(path)
  // Modes are changed only where it is certain that this is the folder that was meant.
  if (requireOwn(path, TARGET)?.isDirectory() !== true) throw new CliError(`${path} is no folder.`)
  if (requireOwn(join(path, MARK), TARGET) === null && readdirSync(path).length > 0) {
    throw new CliError(`${path} holds something else than a backup: name an empty folder.`)
  }
  closeStateFolder(path, { mode: CLOSED, name: TARGET })
  const text = JSON.stringify({ begun_at: new Date().toISOString() })
  writeWhole(join(path, MARK), `${text}\n`)
  return target
}

/** The real path of the folder above; a mistyped path, or a disk that is not mounted, has none. */
function findParent(path: string): string {
  const parent = dirname(path)
  try {
    if (statSync(parent).isDirectory()) return realpathSync(parent)
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw cannotBeUsed(TARGET, error)
    throw new CliError(
      `${parent} does not exist, which ${path} would be in: mount or make ${parent} first, or back up to another folder.`,
      { cause: error },
    )
  }
  throw new CliError(`${parent} is no folder: back up to another one.`)
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: CLOSED })
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw cannotBeUsed(TARGET, error)
  }
}
