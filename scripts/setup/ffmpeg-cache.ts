import { createHash } from "node:crypto"
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  writeFile,
} from "node:fs/promises"
import { join } from "node:path"
import { hashOfOptions } from "../../container/ffmpeg/build.ts"
import { isOlder } from "../../container/ffmpeg/debian-source.ts"
import { cannotBeUsed, checkFoldersAbove, closeToOthers } from "../local/ownership.ts"
import type { FolderName } from "../local/ownership.ts"
import { isSystemError } from "../local/system-error.ts"
import { userCacheFolder, USER_CACHE_SETTING } from "../local/user-cache.ts"

const NAME: FolderName = { subject: USER_CACHE_SETTING, choose: `set ${USER_CACHE_SETTING} to` }
const CLOSED = 0o700
const SUMS = "SHA256SUMS"
/** Files of a build by their modes; the last one says that an installed build is whole. */
const FILES = {
  "bin/ffmpeg": 0o755,
  "bin/ffprobe": 0o755,
  "bin/fetch-ffmpeg": 0o755,
  packages: 0o644,
  "built.json": 0o644,
}

/** Folder of the builds of ffmpeg that all clones of a user share. */
export function ffmpegCacheFolder(): string {
  return join(userCacheFolder(), "lathe", "ffmpeg")
}

/**
 * The path of a build of a version of Debian's source, by default of the newest that was built, by
 * today's options for this system and processor; null where there is none that is whole.
 */
export async function findCachedBuild(cache: string, version?: string): Promise<string | null> {
  const folder = await openFolder(cache)
  const names = (await readdir(folder)).filter((name) => !name.startsWith("."))
  let newest: string | null = null
  for (const name of names) {
    if (version !== undefined && name !== version) continue
    if (newest === null || (await isOlder(newest, name))) newest = name
  }
  if (newest === null) return null
  const path = join(folder, newest)
  if (await isWhole(path)) return path
  await rm(path, { recursive: true })
  return await findCachedBuild(cache, version)
}

/** Adds a build, which `make` writes into an empty folder, whole or not at all; returns its path. */
export async function addToCache(
  cache: string,
  version: string,
  make: (folder: string) => Promise<unknown>,
): Promise<string> {
  const folder = await openFolder(cache)
  const path = join(folder, version)
  const made = await mkdtemp(join(folder, ".new-"))
  try {
    await make(made)
    await writeFile(join(made, SUMS), await sumsOf(made))
    await rename(made, path)
  } catch (error) {
    // Another clone has added the same build meanwhile.
    if (!isSystemError(error, "ENOTEMPTY") && !isSystemError(error, "EEXIST")) throw error
  } finally {
    await rm(made, { recursive: true, force: true })
  }
  return path
}

/** Copies a build of the cache into a folder, for every user to run. */
export async function installBuild(path: string, folder: string): Promise<void> {
  await mkdir(join(folder, "bin"), { recursive: true })
  await rm(join(folder, "built.json"), { force: true })
  for (const [name, mode] of Object.entries(FILES)) {
    const to = join(folder, name)
    const own = `${to}.${process.pid}`
    await copyFile(join(path, name), own)
    await chmod(own, mode)
    // A program that runs does not notice that another one takes its name.
    await rename(own, to)
  }
}

/** The folder of the builds that this clone may use; throws a CliError where others may change it. */
async function openFolder(cache: string): Promise<string> {
  const folder = join(cache, await identityOfBuilds())
  checkFoldersAbove(cache, NAME)
  try {
    await mkdir(folder, { recursive: true, mode: CLOSED })
  } catch (error) {
    throw cannotBeUsed(NAME, error)
  }
  for (const path of [cache, folder]) closeToOthers(path, CLOSED, NAME)
  return folder
}

/** Hash of all that a build depends on but Debian's version: options, system and processor. */
async function identityOfBuilds(): Promise<string> {
  const release = await readFile("/etc/os-release", "utf8").catch(() => "")
  const system = release.split("\n").filter((line) => /^(?:ID|VERSION_ID)=/.test(line))
  const facts = [await hashOfOptions(), process.arch, ...system.toSorted()]
  return createHash("sha256").update(facts.join("\n")).digest("hex").slice(0, 16)
}

/** Whether a build is of this user alone and has the files, byte by byte, that were added. */
async function isWhole(path: string): Promise<boolean> {
  for (const name of ["", "bin", SUMS, ...Object.keys(FILES)]) {
    closeToOthers(join(path, name), CLOSED, NAME)
  }
  try {
    return (await sumsOf(path)) === (await readFile(join(path, SUMS), "utf8"))
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return false
    throw error
  }
}

/** Sums of a build's files, in the form of `sha256sum`. */
async function sumsOf(folder: string): Promise<string> {
  const lines = Object.keys(FILES).map(async (name) => {
    const hash = createHash("sha256").update(await readFile(join(folder, name)))
    return `${hash.digest("hex")}  ${name}\n`
  })
  return (await Promise.all(lines)).join("")
}
