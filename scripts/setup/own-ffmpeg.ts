import { existsSync } from "node:fs"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { z } from "zod"
import { build, hashOfOptions } from "../../container/ffmpeg/build.ts"
import { openDebianSource } from "../../container/ffmpeg/debian-source.ts"
import { findBuildPackages, findMissingPackages } from "../../container/ffmpeg/packages.ts"
import { CliError } from "../local/cli-error.ts"
import { hasOwnFfmpeg, mediaTools, OWN_FFMPEG_FOLDER } from "../local/media-tools.ts"
import { aptInstall, canAptInstall } from "./apt.ts"

const APT_CACHE = "/usr/bin/apt-cache"
const ADVISED = join(dirname(OWN_FFMPEG_FOLDER), "ffmpeg-advised")

const built = z.object({ version: z.string(), hash: z.string(), leftOut: z.array(z.string()) })

/** Builds the project's own ffmpeg, unless it is that of Debian's newest source already. */
export async function ensureOwnFfmpeg(): Promise<void> {
  if (!existsSync(APT_CACHE)) {
    throw new CliError(
      "Lathe builds its own ffmpeg from Debian's source, on Debian: elsewhere set FFMPEG_PATH and FFPROBE_PATH to a build of yours.",
    )
  }
  await installPackages()
  try {
    await using source = await openDebianSource()
    const before = await readBuilt()
    if (before?.version === source.version && before.hash === (await hashOfOptions())) {
      console.log(`ffmpeg ${source.version} is built already.`)
      return
    }
    console.error(`Building ffmpeg ${source.version}, which takes some minutes ...`)
    const { leftOut } = await build(source, OWN_FFMPEG_FOLDER)
    if (leftOut.length > 0) console.log(`This system lacks ${leftOut.join(", ")}: ffmpeg too.`)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CliError(`ffmpeg could not be built: ${why}`, { cause: error })
  }
  if (!hasOwnFfmpeg()) {
    console.log(
      `${OWN_FFMPEG_FOLDER} cannot be entered by the users that tools run as: the system's ffmpeg stays in use.`,
    )
  }
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

async function installPackages(): Promise<void> {
  const missing = await findMissingPackages()
  if (missing.length === 0) return
  if (!(await canAptInstall())) {
    throw new CliError(
      `Lathe builds its own ffmpeg with Debian packages that are not here: install them with \`sudo apt-get install ${missing.join(" ")}\`, and run this again.`,
    )
  }
  console.error("Installing what ffmpeg is built with ...")
  await aptInstall(...(await findBuildPackages()))
}

async function readBuilt(): Promise<z.infer<typeof built> | null> {
  const path = join(OWN_FFMPEG_FOLDER, "built.json")
  const text = await readFile(path, "utf8").catch(() => null)
  if (text === null || !hasOwnFfmpeg()) return null
  return built.safeParse(JSON.parse(text)).data ?? null
}
