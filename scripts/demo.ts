import { join } from "node:path"
import { download, readFileRecord, runCommand, uploadFile } from "./demo/api.ts"
import type { Api, FileRecord } from "./demo/api.ts"
import { curlLines } from "./demo/curl-lines.ts"
import { factsTable } from "./demo/facts-table.ts"
import { measureLoudness } from "./demo/loudness.ts"
import { findPaths, keepResult } from "./demo/paths.ts"
import type { DemoPaths } from "./demo/paths.ts"
import { openProgress } from "./demo/progress.ts"
import { recipeFor } from "./demo/recipe.ts"
import type { Recipe } from "./demo/recipe.ts"
import { CliError, runScript } from "./local/cli-error.ts"
import { startServiceProcess } from "./local/service-process.ts"
import { stopSignal } from "./local/stop-signal.ts"
import { makeTempFolder } from "./local/temp-folder.ts"
import { ensureSetUp } from "./setup.ts"

const EXIT_CODE_STOPPED = 130

await runScript(async () => {
  const paths = findPaths(process.argv.slice(2), process.env["INIT_CWD"] ?? process.cwd())
  await ensureSetUp()
  const asked = stopSignal()
  try {
    await demonstrate(paths, asked)
  } catch (error) {
    if (!asked.aborted) throw error
    process.exitCode = EXIT_CODE_STOPPED
  }
})
process.exit()

async function demonstrate(paths: DemoPaths, signal: AbortSignal): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await makeTempFolder("demo")).path
  const service = stack.use(await startServiceProcess({ signal }))
  console.log(`Service   ${service.origin}, on a state folder that goes when it ends`)
  const api: Api = { base: `${service.origin}/v1`, key: await service.makeKey("demo"), signal }

  console.log(`Upload    ${paths.shownSource}`)
  const before = await uploadFile(api, paths.source)
  const { recipe, after } = await makeResult(api, before, paths.shownSource)
  const fetched = join(folder, recipe.outputName)
  await download(api, after.download_url, fetched)
  const [loudnessBefore, loudnessAfter] = await Promise.all([
    measureLoudness(paths.source, signal),
    measureLoudness(fetched, signal),
  ])
  const result = keepResult(fetched, paths)

  console.log(
    factsTable({ ...before, loudness: loudnessBefore }, { ...after, loudness: loudnessAfter }),
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
