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
import { hashBuildDefinition } from "../../container/ffmpeg/build.ts"
import { isOlderDebianVersion } from "../../container/ffmpeg/debian-source.ts"
import {
  unusableFolderError,
  requireSafeParentFolders,
  removeAccessOfOthers,
} from "../cli/ownership.ts"
import type { FolderErrorWording } from "../cli/ownership.ts"
import { isSystemError } from "../cli/system-error.ts"
import { findUserCacheFolder, USER_CACHE_VARIABLE } from "../cli/user-cache.ts"

const NAME: FolderErrorWording = {
  subject: USER_CACHE_VARIABLE,
  choose: `set ${USER_CACHE_VARIABLE} to`,
}
const CLOSED = 0o700
const SUMS = "SHA256SUMS"
/**
 * Files of an ffmpeg build with their modes. The last file is written last, and shows that an
 * installed build is complete.
 */
const FILES = {
  "bin/ffmpeg": 0o755,
  "bin/ffprobe": 0o755,
  "bin/fetch-ffmpeg": 0o755,
  packages: 0o644,
  "built.json": 0o644,
}

/** Returns the folder of ffmpeg builds that all clones of a user share. */
export function findFfmpegCacheFolder(): string {
  return join(findUserCacheFolder(), "lathe", "ffmpeg")
}

/**
 * Returns the path of the cached build of a version of Debian's source, by default the newest.
 * Considers only builds with the present options for this system and processor. Removes damaged
 * builds. Returns null without such a build.
 */
export async function findCachedFfmpegBuild(
  cache: string,
  version?: string,
): Promise<string | null> {
  const folder = await openFolder(cache)
  const names = (await readdir(folder)).filter((name) => !name.startsWith("."))
  let newest: string | null = null
  for (const name of names) {
    if (version !== undefined && name !== version) continue
    if (newest === null || (await isOlderDebianVersion(newest, name))) newest = name
  }
  if (newest === null) return null
  const path = join(folder, newest)
  if (await isWhole(path)) return path
  await rm(path, { recursive: true })
  return await findCachedFfmpegBuild(cache, version)
}

/**
 * Adds an ffmpeg build to the cache atomically. `make` writes the build into an empty folder.
 * Returns the path of the build in the cache.
 */
export async function addFfmpegBuildToCache(
  cache: string,
  version: string,
  make: (folder: string) => Promise<unknown>,
): Promise<string> {
  const folder = await openFolder(cache)
  const path = join(folder, version)
  const temporaryFolder = await mkdtemp(join(folder, ".new-"))
  try {
    await make(temporaryFolder)
    await writeFile(join(temporaryFolder, SUMS), await sumsOf(temporaryFolder))
    await rename(temporaryFolder, path)
  } catch (error) {
    // Another clone may have added the same build meanwhile.
    if (!isSystemError(error, "ENOTEMPTY") && !isSystemError(error, "EEXIST")) throw error
  } finally {
    await rm(temporaryFolder, { recursive: true, force: true })
  }
  return path
}

/**
 * Copies an ffmpeg build from the cache into a folder, with modes that let every user run the
 * programs.
 */
export async function installFfmpegBuild(path: string, folder: string): Promise<void> {
  await mkdir(join(folder, "bin"), { recursive: true })
  await rm(join(folder, "built.json"), { force: true })
  for (const [name, mode] of Object.entries(FILES)) {
    const to = join(folder, name)
    const own = `${to}.${process.pid}`
    await copyFile(join(path, name), own)
    await chmod(own, mode)
    // Replaces each file by a rename, so that a running program keeps its file.
    await rename(own, to)
  }
}

/**
 * Creates the folder of the ffmpeg builds that this clone can use, and returns the path of the
 * folder. Throws a CliError if other users can change the folder.
 */
async function openFolder(cache: string): Promise<string> {
  const folder = join(cache, await identityOfBuilds())
  requireSafeParentFolders(cache, NAME)
  try {
    await mkdir(folder, { recursive: true, mode: CLOSED })
  } catch (error) {
    throw unusableFolderError(NAME, error)
  }
  for (const path of [cache, folder]) removeAccessOfOthers(path, CLOSED, NAME)
  return folder
}

/**
 * Returns a hash of everything that an ffmpeg build depends on, except the source version: options,
 * system and processor.
 */
async function identityOfBuilds(): Promise<string> {
  const release = await readFile("/etc/os-release", "utf8").catch(() => "")
  const system = release.split("\n").filter((line) => /^(?:ID|VERSION_ID)=/.test(line))
  const facts = [await hashBuildDefinition(), process.arch, ...system.toSorted()]
  return createHash("sha256").update(facts.join("\n")).digest("hex").slice(0, 16)
}

/**
 * Reports whether all files of an ffmpeg build match their checksums. Removes other users' access
 * to the files first.
 */
async function isWhole(path: string): Promise<boolean> {
  for (const name of ["", "bin", SUMS, ...Object.keys(FILES)]) {
    removeAccessOfOthers(join(path, name), CLOSED, NAME)
  }
  try {
    return (await sumsOf(path)) === (await readFile(join(path, SUMS), "utf8"))
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return false
    throw error
  }
}

/** Returns the checksums of an ffmpeg build's files, in the format of `sha256sum`. */
async function sumsOf(folder: string): Promise<string> {
  const lines = Object.keys(FILES).map(async (name) => {
    const hash = createHash("sha256").update(await readFile(join(folder, name)))
    return `${hash.digest("hex")}  ${name}\n`
  })
  return (await Promise.all(lines)).join("")
}
