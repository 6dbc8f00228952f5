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
import { me } from "../../container/folder-changer.ts"
import { makeFolders } from "../../container/make-folders.ts"
import { CliError } from "./cli-error.ts"
import type { Stats } from "node:fs"
import {
  STATE_DIR,
  cannotBeUsed,
  checkFoldersAbove,
  closeToOthers,
  requireOwn,
  setMode,
} from "./ownership.ts"
import { isSystemError } from "./system-error.ts"

const CLOSED = 0o700
/** As root, the users of tools pass the state folder on the way to their workspaces. */
const TOP = me === 0 ? 0o711 : CLOSED
/** Where a runner has its workspaces. */
const WORK = "work"
/** Secrets, rows and media, or records of deployments: a state folder with anything else has one. */
const PROOFS = new Set(["secrets.json", "v3", "remote"])
/** Names that an unfinished start or a rehearsal leaves, and that a disk of its own has. */
const HARMLESS = /^(?:lock|deploy|work|mails|sockets-.*|secrets\.json\.new|lost\+found)$/
const NAMES_SHOWN = 3

/**
 * Makes the state folder, or closes one that is there to everybody else with all that it holds, and
 * returns its real path. Throws a CliError where somebody else has made any of it, or may.
 */
export function openStateFolder(path: string): string {
  const folder = makeFolder(path)
  closeContents(folder)
  const work = join(folder, WORK)
  mkdirSync(work, { recursive: true, mode: CLOSED })
  if (me !== null) for (const each of [folder, work]) setMode(each, TOP)
  return folder
}

/**
 * Closes the state folder of a service, or a copy of one, to everybody else with all that it holds,
 * and returns its real path; null where there is none. Throws as `openStateFolder` does.
 */
export function closeStateFolder(
  path: string,
  { mode = TOP, name = STATE_DIR } = {},
): string | null {
  checkFoldersAbove(path, name)
  if (name === STATE_DIR) closeTop(path)
  if (closeToOthers(path, mode, name)?.isDirectory() !== true) return null
  const folder = realpathSync(path)
  closeContents(folder, name)
  return folder
}

/** The text of a file in the state folder, checked and closed alike; null where there is none. */
export function readStateFile(stateDir: string, ...names: string[]): string | null {
  const path = findStateEntry(stateDir, ...names)
  return path === null ? null : readFileSync(path, "utf8")
}

/** The names in a folder of the state folder; none where there is no such folder. */
export function listStateFolder(stateDir: string, ...names: string[]): string[] {
  const path = findStateEntry(stateDir, ...names)
  return path === null ? [] : readdirSync(path)
}

/** Writes a file of the state folder as a whole, for this user's eyes only; returns its path. */
export function writeStateFile(stateDir: string, names: readonly string[], text: string): string {
  const path = join(makeFolder(stateDir), ...names)
  findStateEntry(stateDir, ...names)
  mkdirSync(dirname(path), { recursive: true, mode: CLOSED })
  writeWhole(path, text)
  return path
}

/** Writes a file as a whole, for this user's eyes only, in a folder that nobody else may change. */
export function writeWhole(path: string, text: string): void {
  rmSync(`${path}.new`, { force: true })
  writeFileSync(`${path}.new`, text, { flag: "wx", mode: 0o600 })
  renameSync(`${path}.new`, path)
}

function makeFolder(path: string): string {
  checkFoldersAbove(path)
  try {
    makeFolders(path, CLOSED)
  } catch (error) {
    if (isSystemError(error, "EEXIST")) throw new CliError(`STATE_DIR is no folder: ${path}.`)
    throw cannotBeUsed(STATE_DIR, error)
  }
  closeTop(path)
  return realpathSync(path)
}

/** Closes the state folder itself as `closeToOthers` does, once it is certain to be one. */
function closeTop(path: string): Stats | null {
  if (requireOwn(path)?.isDirectory() === true) requireStateFolder(path)
  return closeToOthers(path, TOP)
}

/** Throws a CliError where a folder holds other things than a service's, which would be closed. */
function requireStateFolder(path: string): void {
  const names = readdirSync(path)
  const others = names.filter((name) => !HARMLESS.test(name))
  if (others.length === 0 || others.some((name) => PROOFS.has(name))) return
  const shown = others.toSorted().slice(0, NAMES_SHOWN).join(", ")
  throw new CliError(
    `STATE_DIR is ${path}, which holds other things than a service's (${shown}): set STATE_DIR to a folder that is new, empty or of a service.`,
  )
}

/** The real path of an entry, where all folders on the way to it are this user's; null without it. */
function findStateEntry(stateDir: string, ...names: string[]): string | null {
  checkFoldersAbove(stateDir)
  let path = stateDir
  if (closeTop(path) === null) return null
  for (const name of names) {
    path = join(path, name)
    if (closeToOthers(path, CLOSED) === null) return null
  }
  return realpathSync(path)
}

/**
 * Closes all that a state folder holds, each folder before what is in it, which nobody exchanges then.
 * Left out is what is in its work folder, which may belong to the users of tools.
 */
function closeContents(stateDir: string, name = STATE_DIR, folder = stateDir): void {
  for (const entry of namesIn(folder)) {
    const path = join(folder, entry)
    const isWork = path === join(stateDir, WORK)
    const stats = closeToOthers(path, isWork ? TOP : CLOSED, name)
    if (stats?.isDirectory() && !isWork) closeContents(stateDir, name, path)
  }
}

/** The names in a folder; none where a service that is running has removed it meanwhile. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return []
    throw error
  }
}
