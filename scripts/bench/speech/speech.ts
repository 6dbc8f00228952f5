import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { z } from "zod"
import { ADVICE, GREETING, speak, STORY, VOICES } from "../../../test/support/speech.ts"
import { wordErrorRate } from "../../../test/support/word-error-rate.ts"
import { jsonBody } from "../../local/client/caller.ts"
import { runBare } from "../../local/client/media.ts"
import { untilSuccess, uploadMedia } from "../../local/client/requests.ts"
import { flite } from "../../setup/flite.ts"
import { SPEECH_MODELS_PATH, SPEECH_PYTHON_PATH } from "../../setup/speech.ts"
import { ensureSteps } from "../../setup/step.ts"
import { WHISPER_CTRANSLATE2_PATH, whisperCtranslate2 } from "../../setup/whisper-ctranslate2.ts"
import { formatMs, formatRatio, formatSeconds } from "../figure.ts"
import type { Figure } from "../figure.ts"
import type { BenchScope } from "../scope.ts"
import { startBenchService } from "../service.ts"
import type { BenchService } from "../service.ts"
import { rotateMedians, timeMs } from "../statistics.ts"

const MODEL = "base"
const WARM_WHISPER = join(import.meta.dirname, "warm-whisper.py")
const LANGUAGE = "en"
const TEXT = `${STORY} ${ADVICE}`
const ERRORS_MAX = 0.05
const LONG = { rounds: { warmUp: 0, counted: 3 }, goalRatio: 0.2 }
const SHORT = { rounds: { warmUp: 2, counted: 15 }, goalRatio: 1.3 }

const created = z.object({ transcribe_id: z.string() })
const transcription = z.object({ transcript: z.string() })

/** Transcriptions beside other programs with the same model, and their errors. */
export async function benchSpeech(scope: BenchScope): Promise<Figure[]> {
  await ensureSteps([flite, whisperCtranslate2])
  const folder = await scope.makeFolder()
  const service = await startBenchService(scope, { settings: { WHISPER_MODEL: MODEL } })
  const model = join(SPEECH_MODELS_PATH, MODEL)
  const figures: Figure[] = []
  const paths: string[] = []
  for (const voice of VOICES) {
    const path = await speak(folder, { name: `${voice}.wav`, voice, text: TEXT })
    paths.push(path)
    figures.push(await measureErrors(service, voice, path))
  }
  const [path = ""] = paths
  return [
    ...figures,
    await benchLong(service, { path, folder, model }),
    await benchShort(scope, service, { folder, model }),
  ]
}

async function measureErrors(service: BenchService, voice: string, path: string): Promise<Figure> {
  const fileId = await uploadMedia(service.caller, path)
  const rate = wordErrorRate(TEXT, await transcribe(service, fileId))
  return {
    name: `speech: word error rate of flite's voice ${voice}, model ${MODEL}`,
    measured: formatPercent(rate),
    reference: `${TEXT.trim().split(/\s+/).length} words`,
    comparison: "",
    goal: `<= ${formatPercent(ERRORS_MAX)}`,
    isMet: rate <= ERRORS_MAX,
  }
}

function formatPercent(rate: number): string {
  return `${(100 * rate).toFixed(1)} %`
}

/** Speech of two minutes, beside a program that has its defaults and finds the language too. */
async function benchLong(
  service: BenchService,
  { path, folder, model }: { path: string; folder: string; model: string },
): Promise<Figure> {
  const fileId = await uploadMedia(service.caller, path)
  const words = ["--model_directory", model, "--output_dir", folder, path]
  const medianOf = await rotateMedians(LONG.rounds, {
    job: () => timeMs(() => transcribe(service, fileId)),
    reference: () => timeMs(() => runBare(WHISPER_CTRANSLATE2_PATH, words, folder)),
  })
  const ratio = medianOf("job") / medianOf("reference")
  return {
    name: "speech: more than 2 min, accepted until success, median",
    measured: formatSeconds(medianOf("job")),
    reference: `${formatSeconds(medianOf("reference"))} whisper-ctranslate2, its start included`,
    comparison: formatRatio(ratio),
    goal: `<= ${LONG.goalRatio} x`,
    isMet: ratio <= LONG.goalRatio,
  }
}

/** A few seconds of speech, beside a Python process that has the model in memory already. */
async function benchShort(
  scope: BenchScope,
  service: BenchService,
  { folder, model }: { folder: string; model: string },
): Promise<Figure> {
  const path = await speak(folder, { name: "short.wav", text: GREETING })
  const fileId = await uploadMedia(service.caller, path)
  const whisper = scope.use(await openWarmWhisper(model))
  const medianOf = await rotateMedians(SHORT.rounds, {
    job: () => timeMs(() => transcribe(service, fileId, LANGUAGE)),
    reference: () => timeMs(() => whisper.transcribe(path, LANGUAGE)),
  })
  const ratio = medianOf("job") / medianOf("reference")
  return {
    name: "speech: 5 s, warm, accepted until success, p50",
    measured: formatMs(medianOf("job")),
    reference: `${formatMs(medianOf("reference"))} warm faster-whisper`,
    comparison: formatRatio(ratio),
    goal: `<= ${SHORT.goalRatio} x`,
    isMet: ratio <= SHORT.goalRatio,
  }
}

/** A Python process that has a model in memory. */
type WarmWhisper = AsyncDisposable & {
  /** The words of a file. */
  transcribe(path: string, language: string): Promise<string>
}

async function openWarmWhisper(model: string): Promise<WarmWhisper> {
  const child = spawn(SPEECH_PYTHON_PATH, [WARM_WHISPER, model], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  async function next(): Promise<string> {
    const { value, done } = await lines.next()
    if (done) throw new Error("faster-whisper ended")
    return String(JSON.parse(String(value)))
  }
  await next()
  return {
    async transcribe(path, language) {
      child.stdin.write(`${JSON.stringify({ path, language })}\n`)
      return await next()
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, "exit")
      child.kill("SIGKILL")
      await exited
    },
  }
}

/** The words of a file, as the service writes them down. */
async function transcribe(
  { caller, whenLogged }: BenchService,
  fileId: string,
  language?: string,
): Promise<string> {
  const body = { file_url: `svc_id://${fileId}`, ...(language !== undefined && { language }) }
  const { text } = await caller.ask("POST", "/v1/transcribe", jsonBody(body))
  const { transcribe_id: id } = created.parse(JSON.parse(text))
  // Polling meanwhile would take processor time from what is measured.
  await whenLogged("task.ended", id)
  const path = `/v1/transcribe/${id}` as const
  await untilSuccess(caller, path)
  return transcription.parse(JSON.parse((await caller.ask("GET", path)).text)).transcript
}
