import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { gzipSync } from "node:zlib"
import { readFacts } from "../ffmpeg/facts.ts"
import { CliError } from "../local/cli-error.ts"
import { factsPath } from "../local/ffmpeg-facts.ts"
import { mediaTools } from "../local/media-tools.ts"
import type { SetupStep } from "./step.ts"

const advice = "What ffmpeg knows could not be noted: `ffmpeg -h full` does not answer."

/** What the ffmpeg that work is done with knows, by which commands are judged before they run. */
export const ffmpegFacts: SetupStep = {
  name: "notes of what ffmpeg knows",
  advice,

  async isDone() {
    const path = factsPath(mediaTools().ffmpeg)
    return path !== null && existsSync(path)
  },

  async canMake() {
    return factsPath(mediaTools().ffmpeg) !== null
  },

  async make() {
    const { ffmpeg } = mediaTools()
    const path = factsPath(ffmpeg)
    if (path === null) throw new CliError(advice)
    await noteFacts(ffmpeg, path)
  },
}

/** Writes down what an ffmpeg knows, compressed as its setting is; whole, or not at all. */
async function noteFacts(program: string, path: string): Promise<void> {
  try {
    const facts = JSON.stringify(await readFacts(program))
    mkdirSync(dirname(path), { recursive: true })
    const made = `${path}.${process.pid}`
    writeFileSync(made, gzipSync(facts, { level: 9 }).toString("base64"))
    renameSync(made, path)
  } catch (error) {
    throw new CliError(advice, { cause: error })
  }
}
