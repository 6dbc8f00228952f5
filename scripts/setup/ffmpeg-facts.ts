import { accessSync, constants, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { gzipSync } from "node:zlib"
import { readFacts } from "../ffmpeg/facts.ts"
import { CliError } from "../local/cli-error.ts"
import { factsPath } from "../local/ffmpeg-facts.ts"
import { mediaTools } from "../local/media-tools.ts"
import type { SetupStep } from "./step.ts"

const advice =
  "What ffmpeg knows is not noted: run `npm run setup` as the user whose clone this is, where `ffmpeg -h full` answers."

/** What the ffmpeg that work is done with knows, by which commands are judged before they run. */
export const ffmpegFacts: SetupStep = {
  name: "notes of what ffmpeg knows",
  advice,
  doing: "Noting what ffmpeg knows ...",

  async isDone() {
    const path = factsPath(mediaTools().ffmpeg)
    return path !== null && existsSync(path)
  },

  async canMake() {
    const path = factsPath(mediaTools().ffmpeg)
    return path !== null && canWrite(dirname(path))
  },

  async make() {
    const { ffmpeg } = mediaTools()
    const path = factsPath(ffmpeg)
    if (path === null) throw new CliError(advice)
    await noteFacts(ffmpeg, path)
  },
}

/** Whether notes can be kept there: what an ffmpeg knows takes many seconds to read. */
function canWrite(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Writes down what an ffmpeg knows, compressed as its setting is; whole, or not at all. */
async function noteFacts(program: string, path: string): Promise<void> {
  try {
    const facts = JSON.stringify(await readFacts(program))
    const made = `${path}.${process.pid}`
    writeFileSync(made, gzipSync(facts, { level: 9 }).toString("base64"))
    renameSync(made, path)
  } catch (error) {
    throw new CliError(advice, { cause: error })
  }
}
