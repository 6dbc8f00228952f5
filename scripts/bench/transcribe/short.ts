import { GREETING, speak } from "../../../test/support/speech.ts"
import { formatMs, formatRatio } from "../figure.ts"
import type { Figure } from "../figure.ts"
import { uploadMedia } from "../requests.ts"
import type { BenchScope } from "../scope.ts"
import type { BenchService } from "../service.ts"
import { rotateMedians, timeMs } from "../statistics.ts"
import { submitTranscription } from "./submit.ts"
import { openWarmWhisper } from "./warm-whisper.ts"

const ROUNDS = { warmUp: 2, counted: 15 }
const GOAL_RATIO = 1.3
const LANGUAGE = "en"

/** A few seconds of speech, beside a Python process that has the model in memory already. */
export async function benchShort(
  scope: BenchScope,
  service: BenchService,
  { folder, model }: { folder: string; model: string },
): Promise<Figure> {
  const path = await speak(folder, { name: "short.wav", text: GREETING })
  const fileId = await uploadMedia(service.caller, path)
  const whisper = scope.use(await openWarmWhisper(model))
  const medianOf = await rotateMedians(ROUNDS, {
    job: () => timeMs(() => submitTranscription(service, fileId, { language: LANGUAGE })),
    reference: () => timeMs(() => whisper.transcribe(path, LANGUAGE)),
  })
  const ratio = medianOf("job") / medianOf("reference")
  return {
    name: "transcribe: 5 s of speech, warm, accepted until success, p50",
    measured: formatMs(medianOf("job")),
    reference: `${formatMs(medianOf("reference"))} warm faster-whisper`,
    comparison: formatRatio(ratio),
    goal: `<= ${GOAL_RATIO} x`,
    isMet: ratio <= GOAL_RATIO,
  }
}
