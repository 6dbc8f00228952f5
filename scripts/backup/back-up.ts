import { globSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs"
import type { Dirent } from "node:fs"
import { constants, copyFile, lstat, mkdir, rename, rm } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { CliError } from "../cli/cli-error.ts"
import { secureStateFolder, writeFileAtomically } from "../cli/state-folder.ts"
import { isSystemError } from "../cli/system-error.ts"
import { unusableFolderError, requireSafeParentFolders, requireOwnFile } from "../cli/ownership.ts"

/**
 * Result of a backup: the numbers of files that were copied, were already in the backup, and were
 * removed from it, and the number of copied bytes.
 */
export type BackupResult = { copied: number; kept: number; removed: number; bytes: number }

/**
 * SQLite files of D1 and of R2's metadata, in the order in which they are copied. The bytes of R2
 * objects are copied last, so that every object that a copied row refers to is copied too.
 */
const DATABASES = ["v3/d1/**/*.sqlite", "v3/r2/**/*.sqlite"]

/**
 * Pattern of files that `copyOther` does not copy: unfinished files, and SQLite databases with
 * their `-wal` and `-shm` files, because `copyDatabase` copies databases.
 */
const LEFT_OUT = /\.sqlite(?:-wal|-shm)?$|\.new$/
/**
 * Entries of the state folder that a backup leaves out: the lock, the workspaces, and the storage
 * of Durable Objects, which the service restores from D1.
 */
const LEFT_OUT_ENTRIES = new Set(["lock", "work", "v3/do"])

const BUSY_MS_MAX = 30_000
/**
 * Flags for `copyFile`: share the file's blocks with the copy (reflink) if the file system can, and
 * fail if the target exists.
 */
const COPY_MODE = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL

/**
 * Copies the state folder of a service to another folder. The service may run meanwhile. An earlier
 * backup in the target stays usable until the new backup is complete. Throws a CliError if there is
 * no service, if other users can change one of the folders, or if the target holds anything but a
 * backup.
 */
export async function backUpStateFolder(service: string, target: string): Promise<BackupResult> {
  const stateDir = secureStateFolder(service)
  const databases = stateDir === null ? [] : findDatabases(stateDir)
  if (stateDir === null || !databases.some((path) => path.startsWith("v3/d1/"))) {
    throw new CliError(`There is no service in ${service}: set STATE_DIR to that of the service.`)
  }
  const folder = openTarget(target, stateDir)
  const done: BackupResult = { copied: 0, kept: 0, removed: 0, bytes: 0 }
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

/**
 * Returns the paths of the databases relative to the state folder, in the order in which they are
 * copied. The D1 database with the API keys comes first.
 */
function findDatabases(stateDir: string): string[] {
  return DATABASES.flatMap((pattern) =>
    globSync(pattern, { cwd: stateDir }).toSorted(
      (one, other) => ofKeys(join(stateDir, other)) - ofKeys(join(stateDir, one)),
    ),
  )
}

/**
 * Returns 1 for a database with API keys, else 0. Databases are copied in descending order of this
 * number.
 */
function ofKeys(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX })
  try {
    if (!database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'keys'").get()) return 0
    return database.prepare("SELECT 1 FROM keys LIMIT 1").get() ? 1 : 0
  } finally {
    database.close()
  }
}

/** Returns the paths of regular files below a folder, relative to the folder. */
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
 * Copies a consistent snapshot of a database, without the bytes of deleted rows, under a temporary
 * name. Writers of the database are not blocked. Returns the size of the copy in bytes.
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
 * Copies a file and returns its size in bytes. Returns null if the backup already has the file, and
 * undefined if the file no longer exists. A copy with the same size that is not older than the file
 * counts as equal, because files of R2 objects never change.
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
    // The service, which may run during the backup, has removed the source file.
    if (isSystemError(error, "ENOENT")) return undefined
    throw error
  }
}

function count(done: BackupResult, bytes: number | null | undefined): void {
  if (bytes === undefined) return
  if (bytes === null) {
    done.kept += 1
    return
  }
  done.copied += 1
  done.bytes += bytes
}

/** Name of the file that marks a folder as a backup, which later backups may change. */
const MARK = "lathe-backup.json"

const CLOSED = 0o700
const TARGET = { subject: "The folder of the backup", choose: "back up to" }

/**
 * Creates the target folder of a backup, or removes the access of other users to an existing target
 * folder and its content. Returns the real path of the folder. Throws a CliError if the parent
 * folder does not exist, if other users own or can replace a part of the path, or if the folder
 * holds anything but a backup.
 */
function openTarget(path: string, stateDir: string): string {
  const target = join(findParent(path), basename(path))
  if (target === stateDir || target.startsWith(join(stateDir, "/"))) {
    throw new CliError(`${path} is inside ${stateDir}: name another folder.`)
  }
  requireSafeParentFolders(path, TARGET)
  makeFolder(path)
  // Checks first that the folder is empty or a backup, because the modes of other folders must not
  // change.
  if (requireOwnFile(path, TARGET)?.isDirectory() !== true)
    throw new CliError(`${path} is no folder.`)
  if (requireOwnFile(join(path, MARK), TARGET) === null && readdirSync(path).length > 0) {
    throw new CliError(`${path} contains other files than a backup: name an empty folder.`)
  }
  secureStateFolder(path, { mode: CLOSED, name: TARGET })
  const text = JSON.stringify({ begun_at: new Date().toISOString() })
  writeFileAtomically(join(path, MARK), `${text}\n`)
  return target
}

/**
 * Returns the real path of the parent folder. Throws a CliError if the parent folder does not
 * exist: the path was mistyped, or a disk is not mounted.
 */
function findParent(path: string): string {
  const parent = dirname(path)
  try {
    if (statSync(parent).isDirectory()) return realpathSync(parent)
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw unusableFolderError(TARGET, error)
    throw new CliError(
      `The folder ${parent} above ${path} does not exist: mount or create ${parent} first, or back up to another folder.`,
      { cause: error },
    )
  }
  throw new CliError(`${parent} is no folder: back up to another one.`)
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: CLOSED })
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw unusableFolderError(TARGET, error)
  }
}
