import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { z } from "zod"
import { buildFfmpeg } from "../../container/ffmpeg/build.ts"
import { openFfmpegSource } from "../../container/ffmpeg/debian-source.ts"
import type { FfmpegSource } from "../../container/ffmpeg/debian-source.ts"
import { findBuildPackages, findMissingPackages } from "../../container/ffmpeg/debian-packages.ts"
import { CliError } from "../cli/cli-error.ts"
import {
  hasOwnFfmpeg,
  findMediaTools,
  listToolPaths,
  OWN_FFMPEG_FOLDER,
} from "../cli/media-tools.ts"
import { installAptPackages, canInstallAptPackages } from "./apt.ts"
import {
  addFfmpegBuildToCache,
  findFfmpegCacheFolder,
  findCachedFfmpegBuild,
  installFfmpegBuild,
} from "./ffmpeg-cache.ts"

const APT_CACHE = "/usr/bin/apt-cache"
const ADVISED = join(dirname(OWN_FFMPEG_FOLDER), "ffmpeg-advised")

const built = z.object({ version: z.string(), hash: z.string(), leftOut: z.array(z.string()) })
type BuildRecord = z.infer<typeof built>

/**
 * Options for the project's own ffmpeg: the folder of the installation, the cache of builds, and
 * the function that opens Debian's source.
 */
export type OwnFfmpegOptions = {
  folder: string
  cache: string
  openSource: () => Promise<FfmpegSource>
}

const PLACES: OwnFfmpegOptions = {
  folder: OWN_FFMPEG_FOLDER,
  cache: findFfmpegCacheFolder(),
  openSource: openFfmpegSource,
}

/** Installs the project's own ffmpeg into this clone, built from Debian's newest source. */
export async function ensureOwnFfmpeg(places: OwnFfmpegOptions = PLACES): Promise<void> {
  checkDebian()
  await reportFailure(async () => {
    await install(places.folder, await buildNewest(places))
  })
  if (!hasOwnFfmpeg(places.folder)) {
    console.log(
      `${places.folder} cannot be entered by the users of tools: the system's ffmpeg stays in use.`,
    )
  }
}

/**
 * Installs the newest cached build of ffmpeg into a folder. Builds Debian's newest source only if
 * the cache has no build with the present options.
 */
export async function ensureCachedFfmpeg(folder: string): Promise<void> {
  checkDebian()
  await reportFailure(async () => {
    await install(
      folder,
      (await findCachedFfmpegBuild(PLACES.cache)) ?? (await buildNewest(PLACES)),
    )
  })
}

/**
 * Prints once for this clone that the project's own build of ffmpeg makes short jobs faster.
 * Creates the file `marker`, so that later calls print nothing. Prints nothing if the file cannot
 * be written, because the user then could not build ffmpeg either.
 */
export async function suggestOwnFfmpegBuild(
  tools = findMediaTools(),
  marker = ADVISED,
): Promise<void> {
  if (tools.ffmpeg !== "ffmpeg" || !existsSync(APT_CACHE) || existsSync(marker)) return
  try {
    await mkdir(dirname(marker), { recursive: true })
    await writeFile(marker, "")
  } catch {
    return
  }
  console.log(
    "The system's ffmpeg takes longer to start than short jobs take: `npm run setup -- --ffmpeg` builds one that starts at once.",
  )
}

function checkDebian(): void {
  if (existsSync(APT_CACHE)) return
  throw new CliError(
    "Lathe builds its own ffmpeg from Debian's source, on Debian: elsewhere set FFMPEG_PATH and FFPROBE_PATH to a build of yours.",
  )
}

async function reportFailure(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof CliError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new CliError(`ffmpeg could not be built: ${why}`, { cause: error })
  }
}

/**
 * Returns the path of the cached build of Debian's newest source. Builds ffmpeg if the cache lacks
 * that build.
 */
async function buildNewest({ cache, openSource }: OwnFfmpegOptions): Promise<string> {
  await using source = await openSource()
  const cached = await findCachedFfmpegBuild(cache, source.version)
  if (cached !== null) return cached
  await installBuildPackages()
  console.error(`Building ffmpeg ${source.version}, which takes some minutes ...`)
  return await addFfmpegBuildToCache(
    cache,
    source.version,
    async (folder) => await buildFfmpeg(source, folder),
  )
}

/**
 * Installs a cached build into a folder, unless the build is installed. Also installs the Debian
 * packages of its libraries.
 */
async function install(folder: string, path: string): Promise<void> {
  const { version, hash, leftOut } = built.parse(await readBuilt(path))
  const before = await readBuilt(folder)
  if (before?.version === version && before.hash === hash && (await runs(folder))) {
    console.log(`ffmpeg ${version} is already built.`)
    return
  }
  await installFfmpegBuild(path, folder)
  if (!(await runs(folder))) await installRuntimePackages(folder)
  if (leftOut.length > 0) console.log(`This system lacks ${leftOut.join(", ")}: ffmpeg too.`)
}

async function installBuildPackages(): Promise<void> {
  const missing = await findMissingPackages()
  if (missing.length === 0) return
  if (!(await canInstallAptPackages())) throw new CliError(adviseInstall(missing, "builds"))
  console.error("Installing the packages that build ffmpeg ...")
  await installAptPackages(...(await findBuildPackages()))
}

/**
 * Installs the Debian packages of a build's libraries, which are missing if another machine with
 * the same system made the build.
 */
async function installRuntimePackages(folder: string): Promise<void> {
  const packages = (await readFile(join(folder, "packages"), "utf8")).trim().split("\n")
  if (!(await canInstallAptPackages())) throw new CliError(adviseInstall(packages, "runs"))
  console.error("Installing the libraries of ffmpeg ...")
  await installAptPackages(...packages)
  if (!(await runs(folder))) throw new Error(`${join(folder, "bin/ffmpeg")} does not start.`)
}

function adviseInstall(packages: string[], verb: string): string {
  return `Lathe ${verb} its own ffmpeg with Debian packages that are missing: install them with \`sudo apt-get install ${packages.join(" ")}\`, and run this again.`
}

/** Reports whether the programs of a build start on this machine. */
async function runs(folder: string): Promise<boolean> {
  try {
    for (const program of Object.values(listToolPaths(folder))) {
      await promisify(execFile)(program, ["-version"])
    }
    return true
  } catch {
    return false
  }
}

async function readBuilt(folder: string): Promise<BuildRecord | null> {
  const text = await readFile(join(folder, "built.json"), "utf8").catch(() => null)
  return text === null ? null : (built.safeParse(JSON.parse(text)).data ?? null)
}
