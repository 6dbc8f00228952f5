import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { isOpenToAll } from "../../container/sandbox/paths.ts"

/** Where `npm run setup -- --ffmpeg` builds an ffmpeg of the project's own. */
export const OWN_FFMPEG_FOLDER = resolve("node_modules/.cache/ffmpeg")

const PROGRAMS = ["ffmpeg", "ffprobe", "fetch-ffmpeg"]

/** Names or paths of programs; `fetchFfmpeg` downloads. */
export type MediaTools = { ffmpeg: string; ffprobe: string; fetchFfmpeg: string }

/**
 * The ffmpeg and ffprobe that work is done with: those that FFMPEG_PATH and FFPROBE_PATH name, else
 * those of the project's own build, else the system's.
 */
export function mediaTools(
  environment: NodeJS.ProcessEnv = process.env,
  folder: string = OWN_FFMPEG_FOLDER,
): MediaTools {
  const { FFMPEG_PATH, FFPROBE_PATH, FETCH_FFMPEG_PATH } = environment
  const own = hasOwnFfmpeg(folder) ? ownTools(folder) : null
  return {
    ffmpeg: FFMPEG_PATH || own?.ffmpeg || "ffmpeg",
    ffprobe: FFPROBE_PATH || own?.ffprobe || "ffprobe",
    fetchFfmpeg: FETCH_FFMPEG_PATH || own?.fetchFfmpeg || FFMPEG_PATH || "ffmpeg",
  }
}

/** Whether the project's own ffmpeg was built, where tools that run as other users reach it. */
export function hasOwnFfmpeg(folder: string = OWN_FFMPEG_FOLDER): boolean {
  const paths = Object.values(ownTools(folder))
  if (![join(folder, "built.json"), ...paths].every((path) => existsSync(path))) return false
  return process.getuid?.() !== 0 || paths.every((path) => isOpenToAll(path))
}

/**
 * The variables by which services and runners of this process do work with a build. What looks at their
 * work, and programs of attacks, stay the system's: the build has no network.
 */
export function environmentOf(folder: string): Record<string, string> {
  const { ffmpeg, ffprobe, fetchFfmpeg } = ownTools(folder)
  return {
    FFMPEG_PATH: ffmpeg,
    FFPROBE_PATH: ffprobe,
    FETCH_FFMPEG_PATH: fetchFfmpeg,
  }
}

/** The paths of the programs of a build. */
export function ownTools(folder: string): MediaTools {
  const [ffmpeg = "", ffprobe = "", fetchFfmpeg = ""] = PROGRAMS.map((name) => {
    return join(folder, "bin", name)
  })
  return { ffmpeg, ffprobe, fetchFfmpeg }
}
