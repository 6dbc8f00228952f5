import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { delimiter, dirname, join, resolve } from "node:path"

/** What media tools read of the system: libraries, fonts, time zones, presets, and the cores. */
const MEDIA_PATHS = [
  "/usr/lib",
  "/usr/lib64",
  "/usr/local/lib",
  "/lib",
  "/lib64",
  "/etc/ld.so.cache",
  // Debian links its mathematics libraries through here.
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

/** The kernel runs these to load a program, which counts as running them. */
const LOADERS = [
  "/lib64/ld-linux-x86-64.so.2",
  "/lib/ld-linux-aarch64.so.1",
  "/lib/ld-musl-x86_64.so.1",
  "/lib/ld-musl-aarch64.so.1",
]

/** Folders of the root that are links into /usr on most systems; a new root needs them too. */
const ROOT_LINKS = ["/lib", "/lib64"]

export type SystemPaths = {
  /** Folders and files that a tool may read; each is there, and none is a link of the root. */
  read: string[]
  /** Programs that loading a tool runs. */
  loaders: string[]
  links: { path: string; target: string }[]
}

/** What of the system a tool sees: what media tools need, and what the operator adds. */
export function readSystemPaths(added: readonly string[]): SystemPaths {
  const links = ROOT_LINKS.filter(isLink)
  return {
    read: [...MEDIA_PATHS, ...added].filter((path) => existsSync(path) && !links.includes(path)),
    loaders: LOADERS.filter((path) => existsSync(path)).map((path) => realpathSync(path)),
    links: links.map((path) => ({ path, target: readlinkSync(path) })),
  }
}

/** The absolute path of a program, looked for as a shell would; the name itself if there is none. */
export function findProgram(name: string): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter)
  const candidates = name.includes("/") ? [resolve(name)] : folders.map((each) => join(each, name))
  const found = candidates.find((path) => existsSync(path))
  return found === undefined ? name : realpathSync(found)
}

/** Whether any user may read a file or enter a folder, and pass through all that is above it. */
export function isOpenToAll(path: string): boolean {
  const whole = resolve(path)
  const facts = statSync(whole, { throwIfNoEntry: false })
  if (!facts || (facts.mode & 0o005) !== 0o005) return false
  return whole === dirname(whole) || isEnterable(dirname(whole))
}

function isEnterable(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false
  return folder === dirname(folder) || isEnterable(dirname(folder))
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}
