import { existsSync, realpathSync } from "node:fs"
import { dirname, join } from "node:path"
import { findProgram } from "../../sandbox/paths.ts"
import type { Grants } from "../../sandbox/sandbox.ts"
import type { RunnerSettings } from "../../settings.ts"
import { isolatedArgv, packageFolders } from "../python-packages.ts"
import { ytdlpFolder } from "./version.ts"

/** The driver, which the sandbox lets yt-dlp's Python read. */
const DRIVER_FOLDER = join(import.meta.dirname, "driver")

/** What yt-dlp runs with. */
export type YtdlpEnvironment = {
  /** Python itself: a virtual environment's is a link, by which a sandbox would not find it. */
  python: string
  /** Folders that Python looks into for packages, in this order. */
  packages: string[]
  /** What Python reads beside its packages. */
  read: string[]
  /** What yt-dlp itself starts: `downloader` is an ffmpeg, and Node runs the JavaScript of sites. */
  programs: { ffmpeg: string; ffprobe: string; downloader: string; node: string }
}

/** Where yt-dlp is, the version that the operator asked for before the built-in one; null: nowhere. */
export function findYtdlp({
  toolPaths,
}: Pick<RunnerSettings, "toolPaths">): YtdlpEnvironment | null {
  const link = toolPaths["yt-dlp"]
  if (!existsSync(link)) return null
  const packages = [ytdlpFolder(), ...packageFolders(link)].flatMap((folder) => folder ?? [])
  if (!packages.some((folder) => existsSync(join(folder, "yt_dlp")))) return null
  const python = findProgram(link)
  const read = [DRIVER_FOLDER, join(dirname(dirname(python)), "lib"), ...packages]
  const programs = {
    ffmpeg: findProgram(toolPaths.ffmpeg),
    ffprobe: findProgram(toolPaths.ffprobe),
    downloader: findProgram(toolPaths["fetch-ffmpeg"]),
    node: realpathSync(process.execPath),
  }
  return { python, packages, read: [...new Set(read)].filter((path) => existsSync(path)), programs }
}

/** The words that start a program of the driver: Python reads nothing but what it is told of. */
export function pythonArgv(program: string): string[] {
  return isolatedArgv(DRIVER_FOLDER, program)
}

/** What the sandbox grants to yt-dlp beside its way out. */
export function grantsOf({ read, programs }: YtdlpEnvironment): Grants {
  return { read, run: Object.values(programs), mayFork: true }
}
