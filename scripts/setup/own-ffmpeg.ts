import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { z } from "zod"
import { build } from "../../container/ffmpeg/build.ts"
import { openDebianSource } from "../../container/ffmpeg/debian-source.ts"
import type { DebianSource } from "../../container/ffmpeg/debian-source.ts"
import { findBuildPackages, findMissingPackages } from "../../container/ffmpeg/packages.ts"
import { CliError } from "../local/cli-error.ts"
import { hasOwnFfmpeg, mediaTools, ownTools, OWN_FFMPEG_FOLDER } from "../local/media-tools.ts"
import { aptInstall, canAptInstall } from "./apt.ts"
import { addToCache, ffmpegCacheFolder, findCachedBuild, installBuild } from "./ffmpeg-cache.ts"

const APT_CACHE = "/usr/bin/apt-cache"
const ADVISED = join(dirname(OWN_FFMPEG_FOLDER), "ffmpeg-advised")

const built = z.object({ version: z.string(), hash: z.string(), leftOut: z.array(z.string()) })
type Built = z.infer<typeof built>

/** Folders of a build and of the cache that it is taken from or added to, and Debian's source. */
export type OwnFfmpegPlaces = {
  folder: string
  cache: string
  openSource: () => Promise<DebianSource>
}

const PLACES: OwnFfmpegPlaces = {
  folder: OWN_FFMPEG_FOLDER,
  cache: ffmpegCacheFolder(),
  openSource: openDebianSource,
}

/** Puts the project's own ffmpeg, of Debian's newest source, into this clone. */
export async function ensureOwnFfmpeg(places: OwnFfmpegPlaces = PLACES): Promise<void> {
  checkDebian()
  await reportFailure(async () => {
    await install(places.folder, await buildNewest(places))
  })
  if (!hasOwnFfmpeg(places.folder)) {
    console.log(
      `${places.folder} cannot be entered by the users that tools run as: the system's ffmpeg stays in use.`,
    )
  }
}

/**
 * Puts the newest build of the cache into a folder, without asking Debian, which it does where the
 * cache has none by today's options.
 */
export async function ensureCachedFfmpeg(folder: string): Promise<void> {
  checkDebian()
  await reportFailure(async () => {
    await install(folder, (await findCachedBuild(PLACES.cache)) ?? (await buildNewest(PLACES)))
  })
}

/**
 * Says, once for this clone, that an own build makes short work faster where there could be one:
 * where `marker` does not exist, which it makes. Who may not write it may not build one either.
 */
export async function adviseOwnFfmpeg(tools = mediaTools(), marker = ADVISED): Promise<void> {
  if (tools.ffmpeg !== "ffmpeg" || !existsSync(APT_CACHE) || existsSync(marker)) return
  try {
    await mkdir(dirname(marker), { recursive: true })
    await writeFile(marker, "")
  } catch {
    return
  }
  console.log(
    "The system's ffmpeg takes longer to start than short work lasts: `npm run setup -- --ffmpeg` builds one that starts at once.",
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

/** The path in the cache of the build of Debian's newest source. */
async function buildNewest({ cache, openSource }: OwnFfmpegPlaces): Promise<string> {
  await using source = await openSource()
  const cached = await findCachedBuild(cache, source.version)
  if (cached !== null) return cached
  await installBuildPackages()
  console.error(`Building ffmpeg ${source.version}, which takes some minutes ...`)
  return await addToCache(cache, source.version, async (folder) => await build(source, folder))
}

/** Copies a build of the cache into this clone, unless it is there, with the packages that it loads. */
async function install(folder: string, path: string): Promise<void> {
  const { version, hash, leftOut } = built.parse(await readBuilt(path))
  const before = await readBuilt(folder)
  if (before?.version === version && before.hash === hash && (await runs(folder))) {
    console.log(`ffmpeg ${version} is built already.`)
    return
  }
  await installBuild(path, folder)
  if (!(await runs(folder))) await installRuntimePackages(folder)
  if (leftOut.length > 0) console.log(`This system lacks ${leftOut.join(", ")}: ffmpeg too.`)
}

async function installBuildPackages(): Promise<void> {
  const missing = await findMissingPackages()
  if (missing.length === 0) return
  if (!(await canAptInstall())) throw new CliError(adviseInstall(missing, "builds"))
  console.error("Installing what ffmpeg is built with ...")
  await aptInstall(...(await findBuildPackages()))
}

/** Installs the libraries of a build that another system like this one has made. */
async function installRuntimePackages(folder: string): Promise<void> {
  const packages = (await readFile(join(folder, "packages"), "utf8")).trim().split("\n")
  if (!(await canAptInstall())) throw new CliError(adviseInstall(packages, "runs"))
  console.error("Installing what ffmpeg loads ...")
  await aptInstall(...packages)
  if (!(await runs(folder))) throw new Error(`${join(folder, "bin/ffmpeg")} does not start.`)
}

function adviseInstall(packages: string[], verb: string): string {
  return `Lathe ${verb} its own ffmpeg with Debian packages that are not here: install them with \`sudo apt-get install ${packages.join(" ")}\`, and run this again.`
}

/** Whether the programs of a build find their libraries here. */
async function runs(folder: string): Promise<boolean> {
  try {
    for (const program of Object.values(ownTools(folder))) {
      await promisify(execFile)(program, ["-version"])
    }
    return true
  } catch {
    return false
  }
}

async function readBuilt(folder: string): Promise<Built | null> {
  const text = await readFile(join(folder, "built.json"), "utf8").catch(() => null)
  return text === null ? null : (built.safeParse(JSON.parse(text)).data ?? null)
}
