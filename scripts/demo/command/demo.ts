import { join } from "node:path"
import { CliError } from "../../cli/cli-error.ts"
import { measureLoudness } from "../../cli/loudness-meter.ts"
import {
  downloadToFile,
  demoJobFields,
  postDemoJson,
  readDemoRecord,
  waitForFinalDemoRecord,
} from "../api.ts"
import type { DemoApi } from "../api.ts"
import type { Demo, DemoContext } from "../demo.ts"
import { copyDemoResult } from "../paths.ts"
import { createProgressBar } from "../progress.ts"
import { readFileRecord, uploadFile } from "../upload.ts"
import type { FileRecord } from "../upload.ts"
import { makeDemoCommands } from "./recipe.ts"
import type { DemoCommand } from "./recipe.ts"
import { CURL_API_KEY_ARGUMENTS, makeCurlFileArguments } from "../curl.ts"
import type { ProbeResult } from "../../../src/contract/probe.ts"
import { formatTable } from "../../cli/table.ts"
import { isStillImage, findMainStreams } from "../media-facts.ts"
import { z } from "zod"

/** Maximum duration of the loudness measurement, in seconds. */
const MEASURED_SECONDS_MAX = 60

/**
 * Demonstration that uploads a file, runs a command that changes its video and audio noticeably,
 * and prints what changed.
 */
export const commandDemo: Demo = {
  name: "command",
  usage: "npm run demo [-- FILE]",
  clip: join(import.meta.dirname, "clip.mp4"),
  show: showCommand,
}

async function showCommand({ api, paths, folder }: DemoContext): Promise<void> {
  console.log(`Upload    ${paths.shownSource}`)
  const before = await uploadFile(api, paths.source)
  const { recipe, after } = await makeResult(api, before, paths.shownSource)
  const fetched = join(folder, recipe.outputName)
  await downloadToFile(api, after.download_url, fetched)
  const [loudnessBefore, loudnessAfter] = await Promise.all(
    [paths.source, fetched].map((path) =>
      measureLoudness(path, { secondsMax: MEASURED_SECONDS_MAX, signal: api.signal }),
    ),
  )
  const result = copyDemoResult(fetched, paths)

  console.log(
    factsTable(
      { ...before, loudness: loudnessBefore?.lufs ?? null },
      { ...after, loudness: loudnessAfter?.lufs ?? null },
    ),
  )
  console.log(`\nThe result is ${result}\n\nThe same with curl, while \`npm start\` runs:\n`)
  console.log(curlLines(recipe, paths.shownSource))
}

async function makeResult(api: DemoApi, before: FileRecord, shownSource: string) {
  const recipes = before.ffprobe ? makeDemoCommands(before.ffprobe) : []
  if (recipes.length === 0) {
    throw new CliError(`${shownSource} has neither video nor audio to convert.`)
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
  api: DemoApi,
  before: FileRecord,
  recipe: DemoCommand,
): Promise<{ after: FileRecord } | { failure: string }> {
  console.log(`Command   it ${recipe.purpose}\n          ${recipe.command}`)
  const progress = createProgressBar(process.stdout)
  const ended = await runCommand(api, before.id, recipe, (percent) => progress.show(percent))
  progress.end()
  if ("failure" in ended) return ended
  return { after: await readFileRecord(api, ended.outputId) }
}

/**
 * Returns shell commands with curl that repeat the demonstration on a service of `npm start`.
 * `source` is the path of the file.
 */
function curlLines({ command, outputName }: DemoCommand, source: string): string {
  return `  KEY=$(npm run --silent keys -- create --account demo | tail -n 1)
  API=http://127.0.0.1:8787/v1
  FILE=$(curl -s ${CURL_API_KEY_ARGUMENTS} ${makeCurlFileArguments(source)} $API/files | cut -d'"' -f4)
  JOB=$(curl -s ${CURL_API_KEY_ARGUMENTS} -H "Content-Type: application/json" $API/commands -d '{
    "ffmpeg_command": ${JSON.stringify(command)},
    "input_files": {"in_1": "svc_id://'$FILE'"},
    "output_files": {"out_1": "${outputName}"}
  }' | cut -d'"' -f4)
  until RECORD=$(curl -s ${CURL_API_KEY_ARGUMENTS} $API/commands/$JOB) &&
    echo "$RECORD" | grep -qE '"status":"(success|failed)"'; do sleep 1; done
  URL=$(echo "$RECORD" | grep -o '"download_url":"[^"]*' | cut -d'"' -f4)
  curl -L ${CURL_API_KEY_ARGUMENTS} -o ${outputName} "$URL"`
}

type Facts = {
  size_bytes: number
  ffprobe: ProbeResult | null
  /** Integrated loudness in LUFS, or null for a file without audio. */
  loudness: number | null
}

/**
 * Formats a table of a file's properties before and after the command. Leaves out properties that
 * neither file has.
 */
function factsTable(before: Facts, after: Facts): string {
  const rows = facts
    .map(([name, tell]) => [name, tell(before), tell(after)] as const)
    .filter(([, one, other]) => one !== null || other !== null)
    .map(([name, one, other]) => [name, one ?? "-", other ?? "-"])
  return `\n${formatTable([["", "before", "after"], ...rows])}`
}

const facts: [string, (facts: Facts) => string | null][] = [
  [
    "duration",
    ({ ffprobe }) => (ffprobe && !isStillImage(ffprobe) ? seconds(ffprobe.duration) : null),
  ],
  ["size", ({ size_bytes }) => `${Math.ceil(size_bytes / 1000)} kB`],
  ["resolution", ({ ffprobe }) => (ffprobe ? resolution(ffprobe) : null)],
  ["codecs", ({ ffprobe }) => (ffprobe ? codecs(ffprobe) : null)],
  ["loudness", ({ loudness }) => (loudness === null ? null : `${loudness.toFixed(1)} LUFS`)],
]

function seconds(duration: number | undefined): string | null {
  return duration === undefined ? null : `${duration.toFixed(1)} s`
}

function resolution(probe: ProbeResult): string | null {
  if (!findMainStreams(probe).video || probe.width === undefined) return null
  return `${probe.width}x${probe.height ?? "?"}`
}

function codecs(probe: ProbeResult): string {
  const { video, audio } = findMainStreams(probe)
  return [video, audio].flatMap((each) => each?.codec_name ?? []).join(", ")
}

const output = z.object({ id: z.string() })
const commandRecord = z.object({
  ...demoJobFields,
  output_files: z.object({ out_1: z.union([output, z.string()]) }),
})
const created = z.object({ command_id: z.string() })

/**
 * Runs a command on one file. Calls `onProgress` with the job's progress in percent until the job
 * ends.
 */
async function runCommand(
  api: DemoApi,
  fileId: string,
  { command, outputName }: { command: string; outputName: string },
  onProgress: (percent: number) => void,
): Promise<{ outputId: string } | { failure: string }> {
  const answer = await postDemoJson(api, "/commands", {
    ffmpeg_command: command,
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: outputName },
  })
  const path = `/commands/${created.parse(answer).command_id}`
  const record = await waitForFinalDemoRecord(
    async () => await readDemoRecord(api, path, commandRecord),
    api.signal,
    onProgress,
  )
  const { out_1: output } = record.output_files
  if (record.status === "success" && typeof output !== "string") return { outputId: output.id }
  return { failure: record.error ?? "It ended without a result." }
}
