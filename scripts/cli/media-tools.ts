import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { isReadableByAllUsers } from "../../container/sandbox/system-paths.ts"

/** Folder in which `npm run setup -- --ffmpeg` builds the project's own ffmpeg. */
export const OWN_FFMPEG_FOLDER = resolve("node_modules/.cache/ffmpeg")

const PROGRAMS = ["ffmpeg", "ffprobe", "fetch-ffmpeg"]

/** Names or paths of the media tools. `fetchFfmpeg` is the ffmpeg that downloads from the web. */
export type MediaTools = { ffmpeg: string; ffprobe: string; fetchFfmpeg: string }

/**
 * Returns the media tools that the service uses: those that FFMPEG_PATH, FFPROBE_PATH and
 * FETCH_FFMPEG_PATH name, else those of the project's own build, else those of the system.
 */
export function findMediaTools(
  environment: NodeJS.ProcessEnv = process.env,
  folder: string = OWN_FFMPEG_FOLDER,
): MediaTools {
  const { FFMPEG_PATH, FFPROBE_PATH, FETCH_FFMPEG_PATH } = environment
  const own = hasOwnFfmpeg(folder) ? listToolPaths(folder) : null
  return {
    ffmpeg: FFMPEG_PATH || own?.ffmpeg || "ffmpeg",
    ffprobe: FFPROBE_PATH || own?.ffprobe || "ffprobe",
    fetchFfmpeg: FETCH_FFMPEG_PATH || own?.fetchFfmpeg || FFMPEG_PATH || "ffmpeg",
  }
}

/**
 * Reports whether the project's own ffmpeg was built and is readable for tools that run as other
 * users.
 */
export function hasOwnFfmpeg(folder: string = OWN_FFMPEG_FOLDER): boolean {
  const paths = Object.values(listToolPaths(folder))
  if (![join(folder, "built.json"), ...paths].every((path) => existsSync(path))) return false
  return process.getuid?.() !== 0 || paths.every((path) => isReadableByAllUsers(path))
}

/** Returns environment variables that make services and runners use a build of ffmpeg. */
export function makeFfmpegEnvironment(folder: string): Record<string, string> {
  const { ffmpeg, ffprobe, fetchFfmpeg } = listToolPaths(folder)
  return {
    FFMPEG_PATH: ffmpeg,
    FFPROBE_PATH: ffprobe,
    FETCH_FFMPEG_PATH: fetchFfmpeg,
  }
}

/** Returns the paths of the media tools in the folder of an ffmpeg build. */
export function listToolPaths(folder: string): MediaTools {
  const [ffmpeg = "", ffprobe = "", fetchFfmpeg = ""] = PROGRAMS.map((name) => {
    return join(folder, "bin", name)
  })
  return { ffmpeg, ffprobe, fetchFfmpeg }
}
