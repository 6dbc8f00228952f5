import { readFile } from "node:fs/promises"
import { extname, join } from "node:path"
import { meterLoudness } from "../../local/loudness-meter.ts"
import { download } from "../api.ts"
import type { Demo, Stage } from "../demo.ts"
import { keepResult } from "../paths.ts"
import { loudnessTable } from "./loudness-table.ts"
import { normalize, transcribe } from "./requests.ts"
import type { Normalized, Transcribed } from "./requests.ts"

const RESULT = "lathe-demo-output"
const CUES_SHOWN = 3
const LABEL_WIDTH = 10
const LINE_WIDTH = 88

/** Brings a file to the loudness of EBU R 128, and writes down what is said in it. */
export const speechDemo: Demo = {
  name: "speech",
  usage: "npm run demo -- speech [FILE]",
  clip: join(import.meta.dirname, "clip.mp3"),
  show: showSpeech,
}

async function showSpeech(stage: Stage): Promise<void> {
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

async function tellLoudness({ api, paths, folder }: Stage, normalized: Normalized): Promise<void> {
  const url = normalized.download_url
  const fetched = join(folder, `${RESULT}${extname(new URL(url).pathname)}`)
  await download(api, url, fetched)
  const [before = null, after = null] = await Promise.all(
    [paths.source, fetched].map((path) => meterLoudness(path, { signal: api.signal })),
  )
  const { codec, container, measurements, normalization_type, target_reached } = normalized
  console.log(`${loudnessTable(measurements, { before, after })}\n`)
  tell(
    "Sound",
    `${codec} in ${container}, gain ${normalization_type}, target ${target_reached ? "reached" : "not reached"}`,
  )
  tell("Result", keepResult(fetched, paths))
  tell("", url)
}

async function tellSpeech({ api, paths, folder }: Stage, said: Transcribed): Promise<void> {
  const captions = join(folder, `${RESULT}.srt`)
  await download(api, said.srt, captions)
  const cues = (await readFile(captions, "utf8")).trim().split("\n\n").slice(0, CUES_SHOWN)
  tell("Language", `${said.language ?? "none was found"}, by the model ${said.model}`)
  tell("Words", said.transcript === "" ? "nothing was said" : said.transcript)
  tell("Captions", cues.join("\n\n") || "none")
  tell("Result", keepResult(captions, paths))
  for (const format of ["srt", "vtt", "json", "txt"] as const) tell("", said[format])
}

/** Prints a text beside its label, in lines that fit a terminal. */
function tell(label: string, text: string): void {
  for (const [index, line] of text.split("\n").flatMap(wrap).entries()) {
    console.log(((index === 0 ? label : "").padEnd(LABEL_WIDTH) + line).trimEnd())
  }
}

function wrap(line: string): string[] {
  const words = new RegExp(`(?:.{1,${LINE_WIDTH}})(?:\\s+|$)|\\S+\\s*`, "g")
  return line.match(words)?.map((part) => part.trimEnd()) ?? [""]
}
