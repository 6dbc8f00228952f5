import {
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { CURRENT_USER_ID } from "../../container/unsafe-folder.ts"
import { makeFolderWithParents } from "../../container/make-folders.ts"
import { CliError } from "./cli-error.ts"
import type { Stats } from "node:fs"
import {
  STATE_DIR_ERROR_WORDING,
  unusableFolderError,
  requireSafeParentFolders,
  removeAccessOfOthers,
  requireOwnFile,
  setFileMode,
} from "./ownership.ts"
import { isSystemError } from "./system-error.ts"

const CLOSED = 0o700
/**
 * Mode of the state folder. If root runs the service, other users may pass through the folder,
 * because sandboxed tools run as other users and reach their workspaces below it.
 */
const TOP = CURRENT_USER_ID === 0 ? 0o711 : CLOSED
/** Folder of the runner's workspaces in the state folder. */
const WORK = "work"
/**
 * Entries that prove that a folder is a state folder: secrets, stored data, or records of
 * deployments.
 */
const PROOFS = new Set(["secrets.json", "v3", "remote"])
/**
 * Entries that do not prove that a folder is a state folder. An interrupted first start or a dry
 * run of a deployment leaves some of them, and `lost+found` is at the root of a disk.
 */
const HARMLESS = /^(?:lock|deploy|work|mails|sockets-.*|secrets\.json\.new|lost\+found)$/
const NAMES_SHOWN = 3

/**
 * Creates the state folder, or removes other users' access to an existing state folder and its
 * content. Returns the real path of the folder. Throws a CliError if other users own or can replace
 * a part of the path.
 */
export function makeStateFolder(path: string): string {
  const folder = makeFolder(path)
  closeContents(folder)
  const work = join(folder, WORK)
  mkdirSync(work, { recursive: true, mode: CLOSED })
  if (CURRENT_USER_ID !== null) for (const each of [folder, work]) setFileMode(each, TOP)
  return folder
}

/**
 * Removes other users' access to an existing state folder, or a backup of a state folder, and its
 * content. Returns the real path, or null if the folder does not exist. Throws a CliError if other
 * users own or can replace a part of the path.
 */
export function secureStateFolder(
  path: string,
  { mode = TOP, name = STATE_DIR_ERROR_WORDING } = {},
): string | null {
  requireSafeParentFolders(path, name)
  if (name === STATE_DIR_ERROR_WORDING) closeTop(path)
  if (removeAccessOfOthers(path, mode, name)?.isDirectory() !== true) return null
  const folder = realpathSync(path)
  closeContents(folder, name)
  return folder
}

/**
 * Reads a file of the state folder, after removing other users' access to the file and the folders
 * above. Returns null if the file does not exist.
 */
export function readStateFile(stateDir: string, ...names: string[]): string | null {
  const path = findStateEntry(stateDir, ...names)
  return path === null ? null : readFileSync(path, "utf8")
}

/**
 * Lists the entries of a folder in the state folder. Returns an empty list if the folder does not
 * exist.
 */
export function listStateFolder(stateDir: string, ...names: string[]): string[] {
  const path = findStateEntry(stateDir, ...names)
  return path === null ? [] : readdirSync(path)
}

/**
 * Writes a file of the state folder atomically. Only this user can read the file. Returns the path
 * of the file.
 */
export function writeStateFile(stateDir: string, names: readonly string[], text: string): string {
  const path = join(makeFolder(stateDir), ...names)
  findStateEntry(stateDir, ...names)
  mkdirSync(dirname(path), { recursive: true, mode: CLOSED })
  writeFileAtomically(path, text)
  return path
}

/**
 * Writes a file atomically. Only this user can read the file. Requires a folder that other users
 * cannot change.
 */
export function writeFileAtomically(path: string, text: string): void {
  rmSync(`${path}.new`, { force: true })
  writeFileSync(`${path}.new`, text, { flag: "wx", mode: 0o600 })
  renameSync(`${path}.new`, path)
}

function makeFolder(path: string): string {
  requireSafeParentFolders(path)
  try {
    makeFolderWithParents(path, CLOSED)
  } catch (error) {
    if (isSystemError(error, "EEXIST")) throw new CliError(`STATE_DIR is no folder: ${path}.`)
    throw unusableFolderError(STATE_DIR_ERROR_WORDING, error)
  }
  closeTop(path)
  return realpathSync(path)
}

/**
 * Removes other users' access to the state folder itself, and leaves the modes of its entries
 * unchanged. First checks that the folder is a state folder.
 */
function closeTop(path: string): Stats | null {
  if (requireOwnFile(path)?.isDirectory() === true) requireStateFolder(path)
  return removeAccessOfOthers(path, TOP)
}

/**
 * Throws a CliError if a folder contains files that no service made, because other users would lose
 * access to those files.
 */
function requireStateFolder(path: string): void {
  const names = readdirSync(path)
  const others = names.filter((name) => !HARMLESS.test(name))
  if (others.length === 0 || others.some((name) => PROOFS.has(name))) return
  const shown = others.toSorted().slice(0, NAMES_SHOWN).join(", ")
  throw new CliError(
    `STATE_DIR is ${path}, which contains other files than those of a service (${shown}): set STATE_DIR to a new, empty or existing state folder.`,
  )
}

/**
 * Returns the real path of an entry of the state folder, after removing other users' access to the
 * entry and the folders above. Returns null if the entry does not exist. Throws if the entry does
 * not belong to this user.
 */
function findStateEntry(stateDir: string, ...names: string[]): string | null {
  requireSafeParentFolders(stateDir)
  let path = stateDir
  if (closeTop(path) === null) return null
  for (const name of names) {
    path = join(path, name)
    if (removeAccessOfOthers(path, CLOSED) === null) return null
  }
  return realpathSync(path)
}

/**
 * Removes other users' access to the content of a state folder. Handles each folder before its
 * entries, so that no other user can replace the entries. Skips the workspaces, which may belong to
 * the users of sandboxed tools.
 */
function closeContents(stateDir: string, name = STATE_DIR_ERROR_WORDING, folder = stateDir): void {
  for (const entry of namesIn(folder)) {
    const path = join(folder, entry)
    const isWork = path === join(stateDir, WORK)
    const stats = removeAccessOfOthers(path, isWork ? TOP : CLOSED, name)
    if (stats?.isDirectory() && !isWork) closeContents(stateDir, name, path)
  }
}

/**
 * Lists the entries of a folder. Returns an empty list if the running service has removed the
 * folder.
 */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return []
    throw error
  }
}
