import { parseArgs } from "node:util"
import { findDifferences, toMarkdown } from "./ffmpeg/differences.ts"
import { CliError, runScript } from "./local/cli-error.ts"
import { mediaTools } from "./local/media-tools.ts"

const USAGE =
  "Usage: npm run ffmpeg -- differences [HAS] [LACKS]\n" +
  "prints what one ffmpeg has and another lacks: the system's, and that which Lathe uses."

await runScript(async () => {
  const [task, has = "ffmpeg", lacks = mediaTools().ffmpeg, ...more] = readWords()
  if (task !== "differences" || more.length > 0) throw new CliError(USAGE)
  if (has === lacks) {
    throw new CliError(
      "Lathe uses the system's ffmpeg: build its own by `npm run setup -- --ffmpeg`, or name two programs.",
    )
  }
  try {
    console.log(toMarkdown(await findDifferences(has, lacks)))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CliError(`The two could not be compared: ${why}`, { cause: error })
  }
})

function readWords(): string[] {
  try {
    return parseArgs({ allowPositionals: true }).positionals
  } catch (error) {
    throw new CliError(USAGE, { cause: error })
  }
}
