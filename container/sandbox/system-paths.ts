import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { delimiter, dirname, join, resolve } from "node:path"

/** System paths that media tools read: libraries, fonts, time zones, presets and CPU topology. */
const MEDIA_PATHS = [
  "/usr/lib",
  "/usr/lib64",
  "/usr/local/lib",
  "/lib",
  "/lib64",
  "/etc/ld.so.cache",
  // Folder of Debian with links to the libraries BLAS and LAPACK.
  "/etc/alternatives",
  "/etc/fonts",
  "/usr/share/fontconfig",
  "/usr/share/fonts",
  "/usr/local/share/fonts",
  "/var/cache/fontconfig",
  "/etc/localtime",
  "/usr/share/zoneinfo",
  "/usr/share/ffmpeg",
  "/sys/devices/system/cpu",
  "/sys/devices/system/node",
]

/** Files that TLS clients read: trusted certificates and settings. */
const TLS_PATHS = ["/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/usr/share/ca-certificates"]

/** Paths of dynamic loaders, which the kernel executes to load a program. */
const LOADERS = [
  "/lib64/ld-linux-x86-64.so.2",
  "/lib/ld-linux-aarch64.so.1",
  "/lib/ld-musl-x86_64.so.1",
  "/lib/ld-musl-aarch64.so.1",
]

/**
 * Entries of the root folder that are links into /usr on most systems. The root file system of a
 * sandbox needs the same links.
 */
const ROOT_LINKS = ["/lib", "/lib64"]

export type SystemPaths = {
  /**
   * Existing folders and files that every tool may read. Entries of the root folder that are links,
   * such as /lib, are listed in `links` instead.
   */
  read: string[]
  /** Existing paths that only a tool with a network may read, such as TLS certificates. */
  tls: string[]
  /** Paths of the dynamic loaders that a tool may execute. */
  loaders: string[]
  links: { path: string; target: string }[]
}

/**
 * Returns the system paths that tools can access: the existing paths that media tools need, and the
 * paths that the operator configured (`added`).
 */
export function findSystemPaths(added: readonly string[]): SystemPaths {
  const links = ROOT_LINKS.filter(isLink)
  return {
    read: [...MEDIA_PATHS, ...added].filter((path) => existsSync(path) && !links.includes(path)),
    tls: TLS_PATHS.filter((path) => existsSync(path)),
    loaders: LOADERS.filter((path) => existsSync(path)).map((path) => realpathSync(path)),
    links: links.map((path) => ({ path, target: readlinkSync(path) })),
  }
}

/**
 * Reports whether every user may read and execute a file or folder, and enter all folders above it.
 */
export function isReadableByAllUsers(path: string): boolean {
  const absolute = resolve(path)
  const stats = statSync(absolute, { throwIfNoEntry: false })
  if (!stats || (stats.mode & 0o005) !== 0o005) return false
  return absolute === dirname(absolute) || isTraversable(dirname(absolute))
}

/**
 * Returns the absolute path of a program, found by the environment variable PATH. Returns the name
 * itself if the program is not found.
 */
export function findProgram(name: string): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter)
  const candidates = name.includes("/") ? [resolve(name)] : folders.map((each) => join(each, name))
  return candidates.find((path) => existsSync(path)) ?? name
}

/** Reports whether every user may enter all folders above a path. */
export function isReachableByAllUsers(path: string): boolean {
  return isTraversable(dirname(path))
}

/**
 * Returns a path, the target of each symbolic link in the chain that begins at the path, and
 * finally the real path, which contains no links.
 */
export function listSymbolicLinkChain(path: string): string[] {
  if (!existsSync(path)) return [path]
  const found = [resolve(path)]
  for (let each = found[0]; each !== undefined && isLink(each);) {
    each = resolve(dirname(each), readlinkSync(each))
    found.push(each)
  }
  return [...found, realpathSync(path)]
}

/**
 * Returns the paths of a list without duplicates, and without paths that lie below another path of
 * the list.
 */
export function removeNestedPaths(paths: readonly string[]): string[] {
  const unique = [...new Set(paths)]
  return unique.filter((path) => !unique.some((other) => path.startsWith(`${other}/`)))
}

function isTraversable(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (!stats || (stats.mode & 0o001) === 0) return false
  return folder === dirname(folder) || isTraversable(dirname(folder))
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}
