import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { CliError } from "../cli/cli-error.ts"
import { findMediaTools } from "../cli/media-tools.ts"
import { isSystemError } from "../cli/system-error.ts"
import { installAptPackages, canInstallAptPackages } from "./apt.ts"
import type { SetupStep } from "./step.ts"

const MAJOR_VERSION_MIN = 5
const VERSION = /^ff\w+ version (\S+)/
const ANSWER_MS_MAX = 20_000

const advice =
  "Lathe needs ffmpeg and ffprobe (5 or newer): install them, for example with " +
  "`sudo apt-get install ffmpeg` or `brew install ffmpeg`, and run this again."

/**
 * Set-up step for the service's ffmpeg and ffprobe. Installs Debian's packages if neither program
 * is installed.
 */
export const ffmpegStep: SetupStep = {
  name: "ffmpeg and ffprobe",
  advice,

  async isDone() {
    await requireNamedMediaTools()
    const { ffmpeg: ffmpegPath, ffprobe: ffprobePath } = findMediaTools()
    const problems = await Promise.all([ffmpegPath, ffprobePath].map(findProblem))
    return problems.every((problem) => problem === null)
  },

  canMake: canInstallAptPackages,

  async make() {
    await installAptPackages("ffmpeg")
  },
}

/**
 * Throws a CliError if a setting such as FFMPEG_PATH names a program that is no usable ffmpeg or
 * ffprobe.
 */
async function requireNamedMediaTools(): Promise<void> {
  const { FFMPEG_PATH, FFPROBE_PATH, FETCH_FFMPEG_PATH } = process.env
  for (const [name, program] of Object.entries({ FFMPEG_PATH, FFPROBE_PATH, FETCH_FFMPEG_PATH })) {
    if (!program) continue
    const problem = await findProblem(program)
    if (problem === null) continue
    const tool = name === "FFPROBE_PATH" ? "ffprobe" : "ffmpeg"
    throw new CliError(
      `${name} is "${program}", which ${problem}: set it to the path of an ${tool} of version ${MAJOR_VERSION_MIN} or newer, or remove it and run \`npm run setup\`.`,
    )
  }
}

/**
 * Returns the reason why a program is no usable ffmpeg or ffprobe, as a clause. Returns null for a
 * usable program.
 */
async function findProblem(program: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(program, ["-version"], { timeout: ANSWER_MS_MAX })
    if (isSupportedFfmpegVersion(stdout)) return null
    const [, version] = VERSION.exec(stdout) ?? []
    return version === undefined ? "is another program" : `has the version ${version}`
  } catch (error) {
    return isSystemError(error, "ENOENT") ? "does not exist" : "cannot be run"
  }
}

/**
 * Reports whether the output of `-version` names a supported version. Builds from git, which have
 * no version number, count as supported.
 */
export function isSupportedFfmpegVersion(banner: string): boolean {
  const [, version] = VERSION.exec(banner) ?? []
  if (version === undefined) return false
  const [, major] = /^n?(\d+)(?:\.|$)/.exec(version) ?? []
  return major === undefined || Number(major) >= MAJOR_VERSION_MIN
}
