import { join } from "node:path"
import { CliError } from "../../local/cli-error.ts"
import { meterLoudness } from "../../local/loudness-meter.ts"
import { download } from "../api.ts"
import type { Api } from "../api.ts"
import type { Demo, Stage } from "../demo.ts"
import { keepResult } from "../paths.ts"
import { openProgress } from "../progress.ts"
import { curlLines } from "./curl-lines.ts"
import { factsTable } from "./facts-table.ts"
import { recipeFor } from "./recipe.ts"
import type { Recipe } from "./recipe.ts"
import { readFileRecord, runCommand, uploadFile } from "./requests.ts"
import type { FileRecord } from "./requests.ts"

/** Of the sound's loudness in the table. */
const MEASURED_SECONDS_MAX = 60

/** Uploads a file, runs a command on it that changes it visibly and audibly, and says what changed. */
export const commandDemo: Demo = {
  name: "command",
  usage: "npm run demo [-- FILE]",
  clip: join(import.meta.dirname, "clip.mp4"),
  show: showCommand,
}

async function showCommand({ api, paths, folder }: Stage): Promise<void> {
  console.log(`Upload    ${paths.shownSource}`)
  const before = await uploadFile(api, paths.source)
  const { recipe, after } = await makeResult(api, before, paths.shownSource)
  const fetched = join(folder, recipe.outputName)
  await download(api, after.download_url, fetched)
  const [loudnessBefore, loudnessAfter] = await Promise.all(
    [paths.source, fetched].map((path) =>
      meterLoudness(path, { secondsMax: MEASURED_SECONDS_MAX, signal: api.signal }),
    ),
  )
  const result = keepResult(fetched, paths)

  console.log(
    factsTable(
      { ...before, loudness: loudnessBefore?.lufs ?? null },
      { ...after, loudness: loudnessAfter?.lufs ?? null },
    ),
  )
  console.log(`\nThe result is ${result}\n\nThe same with curl, while \`npm start\` runs:\n`)
  console.log(curlLines(recipe, paths.shownSource))
}

async function makeResult(api: Api, before: FileRecord, shownSource: string) {
  const recipes = before.ffprobe ? recipeFor(before.ffprobe) : []
  if (recipes.length === 0) {
    throw new CliError(`${shownSource} holds neither pictures nor sound that could be changed.`)
  }
  let failure = ""
  for (const recipe of recipes) {
    const tried = await tryRecipe(api, before, recipe)
    if ("after" in tried) return { recipe, after: tried.after }
    failure = tried.failure
    console.log(`          ${failure}`)
  }
  throw new CliError(`The command failed: ${failure}`)
}

async function tryRecipe(
  api: Api,
  before: FileRecord,
  recipe: Recipe,
): Promise<{ after: FileRecord } | { failure: string }> {
  console.log(`Command   it ${recipe.purpose}\n          ${recipe.command}`)
  const progress = openProgress(process.stdout)
  const ended = await runCommand(api, before.id, recipe, (percent) => progress.show(percent))
  progress.end()
  if ("failure" in ended) return ended
  return { after: await readFileRecord(api, ended.outputId) }
}
