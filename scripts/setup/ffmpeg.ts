import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { mediaTools } from "../local/media-tools.ts"
import { aptInstall, canAptInstall } from "./apt.ts"
import type { SetupStep } from "./step.ts"

const MAJOR_VERSION_MIN = 5

const advice =
  "Lathe needs ffmpeg and ffprobe (5 or newer): install them, for example with " +
  "`sudo apt-get install ffmpeg` or `brew install ffmpeg`, and run this again."

/** The ffmpeg and ffprobe that work is done with; where there are none, Debian's. */
export const ffmpeg: SetupStep = {
  name: "ffmpeg and ffprobe",
  advice,

  async isDone() {
    const { ffmpeg: ffmpegPath, ffprobe: ffprobePath } = mediaTools()
    const answers = await Promise.all([ffmpegPath, ffprobePath].map(isRecent))
    return answers.every(Boolean)
  },

  canMake: canAptInstall,

  async make() {
    await aptInstall("ffmpeg")
  },
}

async function isRecent(program: string): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(program, ["-version"])
    return isRecentVersion(stdout)
  } catch {
    return false
  }
}

/** Whether the output of `-version` names a usable version; a build from git has no number. */
export function isRecentVersion(banner: string): boolean {
  const [, version] = /^ff\w+ version (\S+)/.exec(banner) ?? []
  if (version === undefined) return false
  const [, major] = /^n?(\d+)(?:\.|$)/.exec(version) ?? []
  return major === undefined || Number(major) >= MAJOR_VERSION_MIN
}
