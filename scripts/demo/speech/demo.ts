import { readFile } from "node:fs/promises"
import { extname, join } from "node:path"
import { measureLoudness } from "../../cli/loudness-meter.ts"
import type { AudioStreamLoudness } from "../../cli/loudness-meter.ts"
import {
  downloadToFile,
  demoJobFields,
  postDemoFile,
  postDemoJson,
  readDemoRecord,
  waitForFinalDemoRecord,
} from "../api.ts"
import type { DemoApi } from "../api.ts"
import type { Demo, DemoContext } from "../demo.ts"
import { copyDemoResult } from "../paths.ts"
import { loudnessSchema, NORMALIZATION_TYPES } from "../../../src/contract/tasks/normalize.ts"
import type { Loudness } from "../../../src/contract/tasks/normalize.ts"
import { formatTable } from "../../cli/table.ts"
import { z } from "zod"
import { CliError } from "../../cli/cli-error.ts"
import { CURL_API_KEY_ARGUMENTS, makeCurlFileArguments, quoteForShell } from "../curl.ts"
import { createProgressBar } from "../progress.ts"

const RESULT = "lathe-demo-output"
const CUES_SHOWN = 3
const LABEL_WIDTH = 10
const LINE_WIDTH = 88

/**
 * Demonstration that normalizes a file to the loudness of EBU R 128, and transcribes its speech.
 */
export const speechDemo: Demo = {
  name: "speech",
  usage: "npm run demo -- speech [FILE]",
  clip: join(import.meta.dirname, "clip.mp3"),
  show: showSpeech,
}

async function showSpeech(stage: DemoContext): Promise<void> {
  const { api, paths } = stage
  console.log(`The requests are shown as they are sent, with API=${api.base}.`)
  const normalized = await normalize(api, paths.source, paths.shownSource)
  await tellLoudness(stage, normalized)
  await tellSpeech(stage, await transcribe(api, normalized.download_url))
  console.log(
    "\nThe same requests work while `npm start` runs, with\n\n" +
      "  KEY=$(npm run --silent keys -- create --account demo | tail -n 1)\n" +
      "  API=http://127.0.0.1:8787/v1",
  )
}

async function tellLoudness(
  { api, paths, folder }: DemoContext,
  normalized: Normalized,
): Promise<void> {
  const url = normalized.download_url
  const fetched = join(folder, `${RESULT}${extname(new URL(url).pathname)}`)
  await downloadToFile(api, url, fetched)
  const [before = null, after = null] = await Promise.all(
    [paths.source, fetched].map((path) => measureLoudness(path, { signal: api.signal })),
  )
  const { codec, container, measurements, normalization_type, target_reached } = normalized
  console.log(`${loudnessTable(measurements, { before, after })}\n`)
  tell(
    "Sound",
    `${codec} in ${container}, gain ${normalization_type}, target ${target_reached ? "reached" : "not reached"}`,
  )
  tell("Result", copyDemoResult(fetched, paths))
  tell("", url)
}

async function tellSpeech(
  { api, paths, folder }: DemoContext,
  transcription: Transcribed,
): Promise<void> {
  const captions = join(folder, `${RESULT}.srt`)
  await downloadToFile(api, transcription.srt, captions)
  const cues = (await readFile(captions, "utf8")).trim().split("\n\n").slice(0, CUES_SHOWN)
  tell(
    "Language",
    `${transcription.language ?? "none was found"}, by the model ${transcription.model}`,
  )
  tell("Words", transcription.transcript === "" ? "nothing was said" : transcription.transcript)
  tell("Captions", cues.join("\n\n") || "none")
  tell("Result", copyDemoResult(captions, paths))
  for (const format of ["srt", "vtt", "json", "txt"] as const) tell("", transcription[format])
}

/** Prints a text beside a label, wrapped to the width of a terminal. */
function tell(label: string, text: string): void {
  for (const [index, line] of text.split("\n").flatMap(wrap).entries()) {
    console.log(((index === 0 ? label : "").padEnd(LABEL_WIDTH) + line).trimEnd())
  }
}

function wrap(line: string): string[] {
  const words = new RegExp(`(?:.{1,${LINE_WIDTH}})(?:\\s+|$)|\\S+\\s*`, "g")
  return line.match(words)?.map((part) => part.trimEnd()) ?? [""]
}

type BeforeAndAfter<Value> = { before: Value; after: Value }

/**
 * Formats a table of the loudness before and after the normalization, as the job's record and as
 * the demonstration's own meter report it.
 */
function loudnessTable(
  { before, after }: BeforeAndAfter<Loudness>,
  metered: BeforeAndAfter<AudioStreamLoudness | null>,
): string {
  const rows = facts.map(([name, unit, key]) => [
    name,
    amount(before[key], unit),
    amount(after[key], unit),
  ])
  return formatTable([
    ["", "before", "after"],
    ...rows,
    [
      "by the demo's meter",
      amount(metered.before?.lufs ?? null, "LUFS"),
      amount(metered.after?.lufs ?? null, "LUFS"),
    ],
  ])
}

const facts: [string, string, keyof Loudness][] = [
  ["loudness", "LUFS", "integrated_lufs"],
  ["range", "LU", "range_lu"],
  ["true peak", "dBTP", "true_peak_dbtp"],
]

function amount(value: number | null, unit: string): string {
  return value === null ? "-" : `${value.toFixed(1)} ${unit}`
}

const normalized = z.object({
  download_url: z.url(),
  container: z.string(),
  codec: z.string(),
  measurements: z.object({ before: loudnessSchema, after: loudnessSchema }),
  normalization_type: z.enum(NORMALIZATION_TYPES),
  target_reached: z.boolean(),
})
const transcribed = z.object({
  language: z.string().nullable(),
  model: z.string(),
  transcript: z.string(),
  srt: z.url(),
  vtt: z.url(),
  json: z.url(),
  txt: z.url(),
})

type Normalized = z.infer<typeof normalized>
type Transcribed = z.infer<typeof transcribed>

/** Normalizes a file to the loudness of EBU R 128. Throws a CliError if the job fails. */
async function normalize(api: DemoApi, file: string, shown: string): Promise<Normalized> {
  say(`${makeCurlFileArguments(shown)} $API/normalize`)
  const answer = await postDemoFile(api, "/normalize", file)
  const { normalization_id } = z.object({ normalization_id: z.string() }).parse(answer)
  return await untilDone(api, `/normalize/${normalization_id}`, normalized)
}

/** Transcribes the file at a `download_url`. Throws a CliError if the job fails. */
async function transcribe(api: DemoApi, url: string): Promise<Transcribed> {
  const body = { file_url: url, language: "auto" }
  say(
    `-H "Content-Type: application/json" $API/transcribe \\\n    -d ${quoteForShell(JSON.stringify(body))}`,
  )
  const answer = await postDemoJson(api, "/transcribe", body)
  const { transcribe_id } = z.object({ transcribe_id: z.string() }).parse(answer)
  return await untilDone(api, `/transcribe/${transcribe_id}`, transcribed)
}

/**
 * Waits until a job has succeeded, and shows the job's progress meanwhile. Returns the record,
 * parsed by `schema`.
 */
async function untilDone<Done>(api: DemoApi, path: string, schema: z.ZodType<Done>): Promise<Done> {
  say(`$API${path}`)
  const progress = createProgressBar(process.stdout)
  const record = await waitForFinalDemoRecord(
    async () => await readDemoRecord(api, path, z.looseObject(demoJobFields)),
    api.signal,
    (percent) => progress.show(percent),
  )
  progress.end()
  if (record.status === "success") return schema.parse(record)
  throw new CliError(record.error ?? "It ended without a result.")
}

function say(words: string): void {
  console.log(`\n  curl -s ${CURL_API_KEY_ARGUMENTS} ${words}`)
}
