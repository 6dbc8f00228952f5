import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { delimiter, dirname, join, resolve } from "node:path"

/** System paths that media tools read: libraries, fonts, time zones, presets, CPU topology. */
const MEDIA_PATHS = [
  "/usr/lib",
  "/usr/lib64",
  "/usr/local/lib",
  "/lib",
  "/lib64",
  "/etc/ld.so.cache",
  // Debian links BLAS and LAPACK through here.
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

/** What programs read that speak TLS: the certificates that they trust, and their settings. */
const TLS_PATHS = ["/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/usr/share/ca-certificates"]

/** Dynamic loaders: the kernel executes them to load a program. */
const LOADERS = [
  "/lib64/ld-linux-x86-64.so.2",
  "/lib/ld-linux-aarch64.so.1",
  "/lib/ld-musl-x86_64.so.1",
  "/lib/ld-musl-aarch64.so.1",
]

/** Root folders that are links into /usr on most systems; a new root needs the same links. */
const ROOT_LINKS = ["/lib", "/lib64"]

export type SystemPaths = {
  /** Existing folders and files that a tool may read; links of the root are not among them. */
  read: string[]
  /** What a tool with a network may read beside. */
  tls: string[]
  /** Dynamic loaders that a tool may execute. */
  loaders: string[]
  links: { path: string; target: string }[]
}

/** The system paths that a tool sees: those of media tools and those the operator adds. */
export function readSystemPaths(added: readonly string[]): SystemPaths {
  const links = ROOT_LINKS.filter(isLink)
  return {
    read: [...MEDIA_PATHS, ...added].filter((path) => existsSync(path) && !links.includes(path)),
    tls: TLS_PATHS.filter((path) => existsSync(path)),
    loaders: LOADERS.filter((path) => existsSync(path)).map((path) => realpathSync(path)),
    links: links.map((path) => ({ path, target: readlinkSync(path) })),
  }
}

/** Whether any user may read a file or enter a folder, and traverse all folders above it. */
export function isOpenToAll(path: string): boolean {
  const absolute = resolve(path)
  const stats = statSync(absolute, { throwIfNoEntry: false })
  if (!stats || (stats.mode & 0o005) !== 0o005) return false
  return absolute === dirname(absolute) || isTraversable(dirname(absolute))
}

/** Absolute path of a program, found through PATH; the name itself where it is not found. */
export function findProgram(name: string): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter)
  const candidates = name.includes("/") ? [resolve(name)] : folders.map((each) => join(each, name))
  return candidates.find((path) => existsSync(path)) ?? name
}

/** Whether any user may enter all folders above a path. */
export function isReachable(path: string): boolean {
  return isTraversable(dirname(path))
}

/** A path, each path that it is a link to in turn, and the real one. */
export function pathsTo(path: string): string[] {
  if (!existsSync(path)) return [path]
  const found = [resolve(path)]
  for (let each = found[0]; each !== undefined && isLink(each);) {
    each = resolve(dirname(each), readlinkSync(each))
    found.push(each)
  }
  return [...found, realpathSync(path)]
}

/** Paths without those that are below another, or there twice. */
export function withoutInner(paths: readonly string[]): string[] {
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
