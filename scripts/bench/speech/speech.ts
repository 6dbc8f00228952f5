import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { z } from "zod"
import {
  OTHER_LONG_SPEECH_TEXT,
  SHORT_SPEECH_TEXT,
  generateSpeech,
  LONG_SPEECH_TEXT,
  FLITE_VOICES,
} from "../../../test/support/media/speech.ts"
import { wordErrorRate } from "../../../test/support/media/word-error-rate.ts"
import { makeJsonBody } from "../../cli/client/caller.ts"
import { runUnsandboxed } from "../../cli/client/media.ts"
import { waitUntilSuccess, uploadMedia } from "../../cli/client/requests.ts"
import {
  WHISPER_CTRANSLATE2_PATH,
  fliteStep,
  whisperCtranslate2Step,
} from "../../setup/test-tools.ts"
import { SPEECH_MODELS_PATH, SPEECH_PYTHON_PATH } from "../../setup/speech.ts"
import { ensureSetupSteps } from "../../setup/step.ts"
import { formatMs, formatRatio, formatSeconds } from "../figure.ts"
import type { BenchResult } from "../figure.ts"
import type { BenchResources } from "../scope.ts"
import { startBenchService } from "../service.ts"
import type { BenchService } from "../service.ts"
import { measureMediansInRotation, measureMs } from "../statistics.ts"

const MODEL = "base"
const WARM_WHISPER = join(import.meta.dirname, "warm-whisper.py")
const LANGUAGE = "en"
const TEXT = `${LONG_SPEECH_TEXT} ${OTHER_LONG_SPEECH_TEXT}`
const ERRORS_MAX = 0.05
const LONG = { rounds: { warmUp: 0, counted: 3 }, goalRatio: 0.2 }
const SHORT = { rounds: { warmUp: 2, counted: 15 }, goalRatio: 1.3 }

const created = z.object({ transcribe_id: z.string() })
const transcription = z.object({ transcript: z.string() })

/**
 * Measures the word error rate of transcriptions, and compares their speed with other programs that
 * use the same model.
 */
export async function benchSpeech(scope: BenchResources): Promise<BenchResult[]> {
  await ensureSetupSteps([fliteStep, whisperCtranslate2Step])
  const folder = await scope.makeFolder()
  const service = await startBenchService(scope, { settings: { WHISPER_MODEL: MODEL } })
  const model = join(SPEECH_MODELS_PATH, MODEL)
  const figures: BenchResult[] = []
  const paths: string[] = []
  for (const voice of FLITE_VOICES) {
    const path = await generateSpeech(folder, { name: `${voice}.wav`, voice, text: TEXT })
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

async function measureErrors(
  service: BenchService,
  voice: string,
  path: string,
): Promise<BenchResult> {
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

/**
 * Measures the transcription of two minutes of speech, and compares it with whisper-ctranslate2
 * with its defaults. Both detect the language.
 */
async function benchLong(
  service: BenchService,
  { path, folder, model }: { path: string; folder: string; model: string },
): Promise<BenchResult> {
  const fileId = await uploadMedia(service.caller, path)
  const words = ["--model_directory", model, "--output_dir", folder, path]
  const medianOf = await measureMediansInRotation(LONG.rounds, {
    job: () => measureMs(() => transcribe(service, fileId)),
    reference: () => measureMs(() => runUnsandboxed(WHISPER_CTRANSLATE2_PATH, words, folder)),
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

/**
 * Measures the transcription of a few seconds of speech, and compares it with a Python process that
 * keeps the model in memory.
 */
async function benchShort(
  scope: BenchResources,
  service: BenchService,
  { folder, model }: { folder: string; model: string },
): Promise<BenchResult> {
  const path = await generateSpeech(folder, { name: "short.wav", text: SHORT_SPEECH_TEXT })
  const fileId = await uploadMedia(service.caller, path)
  const whisper = scope.use(await openWarmWhisper(model))
  const medianOf = await measureMediansInRotation(SHORT.rounds, {
    job: () => measureMs(() => transcribe(service, fileId, LANGUAGE)),
    reference: () => measureMs(() => whisper.transcribe(path, LANGUAGE)),
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

/** Python process that keeps a speech model in memory and transcribes files. */
type WarmWhisper = AsyncDisposable & {
  /** Returns the transcript of an audio file. */
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

/** Transcribes an uploaded file with the service. Returns the transcript. */
async function transcribe(
  { caller, whenLogged }: BenchService,
  fileId: string,
  language?: string,
): Promise<string> {
  const body = { file_url: `svc_id://${fileId}`, ...(language !== undefined && { language }) }
  const { text } = await caller.ask("POST", "/v1/transcribe", makeJsonBody(body))
  const { transcribe_id: id } = created.parse(JSON.parse(text))
  // Waits for the task's log line, because polling would take CPU time from the measured job.
  await whenLogged("task.ended", id)
  const path = `/v1/transcribe/${id}` as const
  await waitUntilSuccess(caller, path)
  return transcription.parse(JSON.parse((await caller.ask("GET", path)).text)).transcript
}
