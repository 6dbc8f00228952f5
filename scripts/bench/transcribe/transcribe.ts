import { join } from "node:path"
import { ADVICE, speak, STORY, VOICES } from "../../../test/support/speech.ts"
import { wordErrorRate } from "../../../test/support/word-error-rate.ts"
import { flite } from "../../setup/flite.ts"
import { SPEECH_MODELS_PATH } from "../../setup/speech.ts"
import { ensureSteps } from "../../setup/step.ts"
import { WHISPER_CTRANSLATE2_PATH, whisperCtranslate2 } from "../../setup/whisper-ctranslate2.ts"
import { formatRatio, formatSeconds } from "../figure.ts"
import type { Figure } from "../figure.ts"
import { runBare } from "../media.ts"
import { uploadMedia } from "../requests.ts"
import type { BenchScope } from "../scope.ts"
import { startBenchService } from "../service.ts"
import type { BenchService } from "../service.ts"
import { rotateMedians, timeMs } from "../statistics.ts"
import { benchHour } from "./hour.ts"
import { benchShort } from "./short.ts"
import { submitTranscription } from "./submit.ts"

const MODEL = "base"
const TEXT = `${STORY} ${ADVICE}`
const LONG_ROUNDS = { warmUp: 0, counted: 3 }
const LONG_GOAL_RATIO = 0.2
const ERRORS_MAX = 0.05

/** Transcriptions beside other programs with the same model, their errors, and the memory they take. */
export async function benchTranscribe(scope: BenchScope): Promise<Figure[]> {
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
    ...(await benchHour(service, { path, folder })),
  ]
}

async function measureErrors(service: BenchService, voice: string, path: string): Promise<Figure> {
  const fileId = await uploadMedia(service.caller, path)
  const rate = wordErrorRate(TEXT, await submitTranscription(service, fileId))
  return {
    name: `transcribe: word error rate of flite's voice ${voice}, model ${MODEL}`,
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

/** Its defaults, apart from the folder of the model; it has to find the language too. */
async function benchLong(
  service: BenchService,
  { path, folder, model }: { path: string; folder: string; model: string },
): Promise<Figure> {
  const fileId = await uploadMedia(service.caller, path)
  const words = ["--model_directory", model, "--output_dir", folder, path]
  const medianOf = await rotateMedians(LONG_ROUNDS, {
    job: () => timeMs(() => submitTranscription(service, fileId)),
    reference: () => timeMs(() => runBare(WHISPER_CTRANSLATE2_PATH, words, folder)),
  })
  const ratio = medianOf("job") / medianOf("reference")
  return {
    name: "transcribe: more than 2 min of speech, accepted until success, median",
    measured: formatSeconds(medianOf("job")),
    reference: `${formatSeconds(medianOf("reference"))} whisper-ctranslate2, its start included`,
    comparison: formatRatio(ratio),
    goal: `<= ${LONG_GOAL_RATIO} x`,
    isMet: ratio <= LONG_GOAL_RATIO,
  }
}
