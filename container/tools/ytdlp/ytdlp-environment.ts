import { existsSync, realpathSync } from "node:fs"
import { dirname, join } from "node:path"
import { findProgram } from "../../sandbox/system-paths.ts"
import type { ToolGrants } from "../../sandbox/sandbox.ts"
import type { RunnerSettings } from "../../settings.ts"
import { isolatedPythonArgv, findPythonPackageFolders } from "../python-packages.ts"
import { findYtdlpUpdateFolder } from "./ytdlp-update.ts"

/** Folder of the Python driver of yt-dlp. */
const DRIVER_FOLDER = join(import.meta.dirname, "driver")

/**
 * Installation of yt-dlp: the Python executable, the package folders, and the paths and programs
 * that yt-dlp may use in the sandbox.
 */
export type YtdlpInstallation = {
  /** Absolute path of the Python executable in the virtual environment. */
  python: string
  /** Package folders, in the order in which Python searches them. */
  packages: string[]
  /** Paths that Python may read in the sandbox. */
  read: string[]
  /**
   * Programs that yt-dlp starts. `downloader` is an ffmpeg with network access; Node runs
   * JavaScript of sites.
   */
  programs: { ffmpeg: string; ffprobe: string; downloader: string; node: string }
}

/**
 * Finds the installation of yt-dlp: the version that YTDLP_VERSION names, if that version is
 * installed, else the built-in version. Returns null if neither version is installed.
 */
export function findYtdlpInstallation({
  toolPaths,
}: Pick<RunnerSettings, "toolPaths">): YtdlpInstallation | null {
  const link = toolPaths["yt-dlp"]
  if (!existsSync(link)) return null
  const packages = [findYtdlpUpdateFolder(), ...findPythonPackageFolders(link)].flatMap(
    (folder) => folder ?? [],
  )
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

/** Returns the arguments with which Python runs a program of the driver. */
export function ytdlpDriverArgv(program: string): string[] {
  return isolatedPythonArgv(DRIVER_FOLDER, program)
}

/** Returns the sandbox rights of yt-dlp, without its network access. */
export function getYtdlpToolGrants({ read, programs }: YtdlpInstallation): ToolGrants {
  return { read, run: Object.values(programs), mayFork: true }
}
