import { globSync } from "node:fs"
import type { Dirent } from "node:fs"
import { constants, copyFile, lstat, mkdir, rename, rm } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { CliError } from "../local/cli-error.ts"
import { closeStateFolder } from "../local/state-folder.ts"
import { isSystemError } from "../local/system-error.ts"
import { MARK, openTarget } from "./target.ts"

/** The result of a backup: files that it copied, left since they were there, and removed. */
export type BackedUp = { copied: number; kept: number; removed: number; bytes: number }

/**
 * D1, the database of keys first, which the others are copied from where they are missing something;
 * then the list of R2's objects, then their bytes: so all that the copied rows name is copied.
 */
const DATABASES = ["v3/d1/**/*.sqlite", "v3/r2/**/*.sqlite"]

/**
 * Left out are work of the moment, the lock, and objects that only carry what D1 says
 * (docs/develop/architecture.md). The files that SQLite has beside a database are in the copy of that.
 */
const LEFT_OUT = /\.sqlite(?:-wal|-shm)?$|\.new$/
const LEFT_OUT_ENTRIES = new Set(["lock", "work", "v3/do"])

const BUSY_MS_MAX = 30_000
/** Writes to no file that is there already. */
const COPY_MODE = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL

/**
 * Copies what the service of a state folder keeps, which may run meanwhile, to another folder, whose
 * earlier backup is whole until this one is. Throws a CliError where there is no such service, where
 * somebody else may read or change either folder, or where the other one holds anything but a backup.
 */
export async function backUp(service: string, target: string): Promise<BackedUp> {
  const stateDir = closeStateFolder(service)
  const databases = stateDir === null ? [] : findDatabases(stateDir)
  if (stateDir === null || !databases.some((path) => path.startsWith("v3/d1/"))) {
    throw new CliError(`There is no service in ${service}: set STATE_DIR to that of the service.`)
  }
  const folder = openTarget(target, stateDir)
  const done: BackedUp = { copied: 0, kept: 0, removed: 0, bytes: 0 }
  for (const path of databases) count(done, await copyDatabase(stateDir, folder, path))
  const files = listFiles(stateDir).filter((path) => !LEFT_OUT.test(path))
  for (const path of files) count(done, await copyOther(stateDir, folder, path))
  for (const path of databases) await rename(newName(folder, path), join(folder, path))
  const known = new Set([...databases, ...files, MARK])
  for (const path of listFiles(folder).filter((each) => !known.has(each))) {
    await rm(join(folder, path))
    done.removed += 1
  }
  return done
}

/** Paths of the databases to copy, relative to the state folder, in the order in which they are. */
function findDatabases(stateDir: string): string[] {
  return DATABASES.flatMap((pattern) =>
    globSync(pattern, { cwd: stateDir }).toSorted(
      (one, other) => ofKeys(join(stateDir, other)) - ofKeys(join(stateDir, one)),
    ),
  )
}

/** 1 for a database that has keys, else 0. */
function ofKeys(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX })
  try {
    if (!database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'keys'").get()) return 0
    return database.prepare("SELECT 1 FROM keys LIMIT 1").get() ? 1 : 0
  } finally {
    database.close()
  }
}

/** Paths of plain files below a folder, relative to it. */
function listFiles(folder: string): string[] {
  function pathOf({ parentPath, name }: Dirent): string {
    return relative(folder, join(parentPath, name))
  }
  function exclude(entry: Dirent): boolean {
    return LEFT_OUT_ENTRIES.has(pathOf(entry))
  }
  const entries = globSync("**/*", { cwd: folder, withFileTypes: true, exclude })
  return entries.filter((entry) => entry.isFile()).map(pathOf)
}

function newName(folder: string, path: string): string {
  return join(folder, `${path}.new`)
}

/**
 * Copies a database as it is at one moment, by a new name, without the bytes of rows that were
 * deleted; whoever writes to it goes on. Answers the bytes of the copy.
 */
async function copyDatabase(stateDir: string, folder: string, path: string): Promise<number> {
  const target = newName(folder, path)
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  await rm(target, { force: true })
  const source = new DatabaseSync(join(stateDir, path), { readOnly: true, timeout: BUSY_MS_MAX })
  try {
    source.prepare("VACUUM INTO ?").run(target)
  } finally {
    source.close()
  }
  return (await lstat(target)).size
}

/**
 * Copies a file; null where the copy has it, undefined where it is there no more. The bytes of an
 * object are written once: newer ones are a file of another name.
 */
async function copyOther(
  stateDir: string,
  folder: string,
  path: string,
): Promise<number | null | undefined> {
  const [from, target] = [join(stateDir, path), join(folder, path)]
  try {
    const { size, mtimeMs } = await lstat(from)
    const there = await lstat(target).catch(() => null)
    if (there?.size === size && there.mtimeMs >= mtimeMs) return null
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    await rm(newName(folder, path), { force: true })
    await copyFile(from, newName(folder, path), COPY_MODE)
    await rename(newName(folder, path), target)
    return size
  } catch (error) {
    // A service that is running has removed it meanwhile.
    if (isSystemError(error, "ENOENT")) return undefined
    throw error
  }
}

function count(done: BackedUp, bytes: number | null | undefined): void {
  if (bytes === undefined) return
  if (bytes === null) {
    done.kept += 1
    return
  }
  done.copied += 1
  done.bytes += bytes
}
