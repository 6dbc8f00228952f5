import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { download, readFileRecord, runCommand, uploadFile } from "./demo/api.ts"
import type { Api, FileRecord } from "./demo/api.ts"
import { curlLines } from "./demo/curl-lines.ts"
import { factsTable } from "./demo/facts-table.ts"
import { measureLoudness } from "./demo/loudness.ts"
import { findPlaces, keepResult } from "./demo/places.ts"
import type { Places } from "./demo/places.ts"
import { openProgress } from "./demo/progress.ts"
import { recipeFor } from "./demo/recipe.ts"
import type { Recipe } from "./demo/recipe.ts"
import { startTemporaryService } from "./demo/temporary-service.ts"
import { createKey } from "./keys/operator.ts"
import { Complaint, runScript } from "./local/complaint.ts"
import { ensureSetUp } from "./setup.ts"

const EXIT_CODE_STOPPED = 130

await runScript(async () => {
  const places = findPlaces(process.argv.slice(2), process.env["INIT_CWD"] ?? process.cwd())
  await ensureSetUp()
  const asked = stopSignal()
  try {
    await demonstrate(places, asked)
  } catch (error) {
    if (!asked.aborted) throw error
    process.exitCode = EXIT_CODE_STOPPED
  }
})
process.exit()

async function demonstrate(places: Places, signal: AbortSignal): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "lathe-demo-"))
  stack.defer(async () => await rm(folder, { recursive: true, force: true }))
  const service = stack.use(await startTemporaryService(join(folder, "state"), signal))
  console.log(`Service   ${service.origin}, on a state folder that goes when it ends`)
  const operator = { origin: service.origin, token: service.operatorToken, isLocal: true }
  const { key } = await createKey(operator, { account: "demo" })
  const api: Api = { base: `${service.origin}/v1`, key, signal }

  console.log(`Upload    ${places.shownSource}`)
  const before = await uploadFile(api, places.source)
  const { recipe, after } = await makeResult(api, before, places.shownSource)
  const fetched = join(folder, recipe.outputName)
  await download(api, after.download_url, fetched)
  const [loudnessBefore, loudnessAfter] = await Promise.all([
    measureLoudness(places.source, signal),
    measureLoudness(fetched, signal),
  ])
  const result = keepResult(fetched, places)

  console.log(
    factsTable({ ...before, loudness: loudnessBefore }, { ...after, loudness: loudnessAfter }),
  )
  console.log(`\nThe result is ${result}\n\nThe same with curl, while \`npm start\` runs:\n`)
  console.log(curlLines(recipe, places.shownSource))
}

async function makeResult(api: Api, before: FileRecord, shownSource: string) {
  const recipes = before.ffprobe ? recipeFor(before.ffprobe) : []
  if (recipes.length === 0) {
    throw new Complaint(`${shownSource} holds neither pictures nor sound that could be changed.`)
  }
  let failure = ""
  for (const recipe of recipes) {
    const tried = await tryRecipe(api, before, recipe)
    if ("after" in tried) return { recipe, after: tried.after }
    failure = tried.failure
    console.log(`          ${failure}`)
  }
  throw new Complaint(`The command failed: ${failure}`)
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

/** Aborted when this process is first asked to end; npm asks again what the terminal has asked. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => controller.abort())
  }
  return controller.signal
}
