import { parseArgs } from "node:util"
import { writeFileSync } from "node:fs"
import { findFfmpegDifferences, formatFfmpegDifferences } from "./differences.ts"
import { describeProbeDifferences, findProbeDifferences, readFfmpegVersion } from "./probes.ts"
import { makeSampleMediaFiles } from "./samples.ts"
import { readFfmpegCapabilities } from "./facts.ts"
import { CliError, runScript } from "../cli/cli-error.ts"
import { findMediaTools } from "../cli/media-tools.ts"
import { makeTempFolder } from "../cli/temp-folder.ts"

const USAGE = `Usage: npm run ffmpeg -- TASK
differences [HAS] [LACKS]  prints what one ffmpeg has and another lacks: the system's, and that which
                           Lathe uses.
probes [FFPROBE]           has Lathe's ffmpeg write a file by each encoder and each muxer, and prints
                           where its ffprobe and another of the same version, the system's, differ.
facts [PROGRAM] [FILE]     writes down what an ffmpeg knows: by default Lathe's, where commands of a
                           deployment are judged by it.`

const IMAGE_FACTS = "src/kinds/command/facts/image.json"

await runScript(async () => {
  const [task, first, second, ...more] = readWords()
  if (task === "differences" && more.length === 0) await printDifferences(first, second)
  else if (task === "probes" && second === undefined) await printProbes(first)
  else if (task === "facts" && more.length === 0) await writeFacts(first, second)
  else throw new CliError(USAGE)
})

async function writeFacts(program = findMediaTools().ffmpeg, path = IMAGE_FACTS): Promise<void> {
  writeFileSync(path, `${JSON.stringify(await readFfmpegCapabilities(program), null, 2)}\n`)
}

async function printDifferences(has = "ffmpeg", lacks = findMediaTools().ffmpeg): Promise<void> {
  refuseOne(has, lacks)
  try {
    console.log(formatFfmpegDifferences(await findFfmpegDifferences(has, lacks)))
  } catch (error) {
    throw refuse(error)
  }
}

async function printProbes(other = "ffprobe"): Promise<void> {
  const { ffmpeg, ffprobe } = findMediaTools()
  refuseOne(other, ffprobe)
  await using folder = await makeTempFolder("probes")
  try {
    const versions = [await readFfmpegVersion(ffprobe), await readFfmpegVersion(other)]
    if (versions[0] !== versions[1]) throw new Error(`they are of ${versions.join(" and ")}.`)
    const files = await makeSampleMediaFiles(ffmpeg, folder.path)
    const found = await findProbeDifferences(ffprobe, other, files)
    for (const probes of found) console.log(describeProbeDifferences(probes))
    console.log(`${found.length} of ${files.length} files are described differently.`)
  } catch (error) {
    throw refuse(error)
  }
}

function refuseOne(one: string, other: string): void {
  if (one !== other) return
  throw new CliError(
    "Lathe uses the system's ffmpeg: build its own by `npm run setup -- --ffmpeg`, or name two programs.",
  )
}

function refuse(error: unknown): CliError {
  const why = error instanceof Error ? error.message : String(error)
  return new CliError(`The programs could not be compared: ${why}`, { cause: error })
}

function readWords(): string[] {
  try {
    return parseArgs({ allowPositionals: true }).positionals
  } catch (error) {
    throw new CliError(USAGE, { cause: error })
  }
}
