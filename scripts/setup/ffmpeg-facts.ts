import { accessSync, constants, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { gzipSync } from "node:zlib"
import { readFfmpegCapabilities } from "../ffmpeg/facts.ts"
import { CliError } from "../cli/cli-error.ts"
import { findFfmpegCapabilitiesPath } from "../start/ffmpeg-facts.ts"
import { findMediaTools } from "../cli/media-tools.ts"
import type { SetupStep } from "./step.ts"

const advice =
  "The capabilities of ffmpeg are not noted: run `npm run setup` as the owner of this clone, with an `ffmpeg -h full` that works."

/**
 * Set-up step that stores the capabilities of the service's ffmpeg, with which commands are checked
 * before they run.
 */
export const ffmpegCapabilitiesStep: SetupStep = {
  name: "notes of the capabilities of ffmpeg",
  advice,
  doing: "Noting the capabilities of ffmpeg ...",

  async isDone() {
    const path = findFfmpegCapabilitiesPath(findMediaTools().ffmpeg)
    return path !== null && existsSync(path)
  },

  async canMake() {
    const path = findFfmpegCapabilitiesPath(findMediaTools().ffmpeg)
    return path !== null && canWrite(dirname(path))
  },

  async make() {
    const { ffmpeg } = findMediaTools()
    const path = findFfmpegCapabilitiesPath(ffmpeg)
    if (path === null) throw new CliError(advice)
    await noteFacts(ffmpeg, path)
  },
}

/**
 * Reports whether the capabilities can be stored in a folder. The step calls this function first,
 * because reading the capabilities takes many seconds.
 */
function canWrite(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Reads the capabilities of an ffmpeg, and writes them to a file atomically, compressed as in the
 * setting FFMPEG_FACTS.
 */
async function noteFacts(program: string, path: string): Promise<void> {
  try {
    const facts = JSON.stringify(await readFfmpegCapabilities(program))
    const temporaryPath = `${path}.${process.pid}`
    writeFileSync(temporaryPath, gzipSync(facts, { level: 9 }).toString("base64"))
    renameSync(temporaryPath, path)
  } catch (error) {
    throw new CliError(advice, { cause: error })
  }
}
