import { flite } from "../../setup/flite.ts"
import { ensureSteps } from "../../setup/step.ts"
import { formatRatio, formatSeconds } from "../figure.ts"
import type { Figure } from "../figure.ts"
import { uploadMedia } from "../requests.ts"
import type { BenchScope } from "../scope.ts"
import { startBenchService } from "../service.ts"
import type { BenchService } from "../service.ts"
import { rotateMedians, timeMs } from "../statistics.ts"
import { passByGain, passByLoudnorm } from "./bare-passes.ts"
import type { Source } from "./bare-passes.ts"
import { measureMatrix } from "./loudness-matrix.ts"
import { makeFormat, makeSound } from "./sound.ts"
import { submitNormalization } from "./submit.ts"

const SOUND_SECONDS = 240
const ROUNDS = { warmUp: 0, counted: 3 }
const GOAL_RATIO = 1.05
const AAC = "-c:a aac -b:a 160k"

/** Whole normalizations beside three bare passes of ffmpeg, and how near the results are to targets. */
export async function benchNormalize(scope: BenchScope): Promise<Figure[]> {
  await ensureSteps([flite])
  const folder = await scope.makeFolder()
  const service = await startBenchService(scope)
  const sound = await makeSound(folder, "long.wav", SOUND_SECONDS)
  const video = await makeFormat(folder, sound, { name: "long.mp4", words: AAC, isVideo: true })
  return [
    ...(await benchPasses(service, folder, "WAV", { path: sound, codec: "-c:a pcm_s16le" })),
    ...(await benchPasses(service, folder, "MP4 with a picture", { path: video, codec: AAC })),
    ...(await measureMatrix(service, folder)),
  ]
}

async function benchPasses(
  service: BenchService,
  folder: string,
  name: string,
  source: Source,
): Promise<Figure[]> {
  const fileId = await uploadMedia(service.caller, source.path)
  const medianOf = await rotateMedians(ROUNDS, {
    job: () => timeMs(() => submitNormalization(service, fileId)),
    loudnorm: () => timeMs(() => passByLoudnorm(source, folder)),
    gain: () => timeMs(() => passByGain(source, folder)),
  })
  const references = [
    ["loudnorm", "three passes by loudnorm"],
    ["gain", "ebur128, volume, ebur128"],
  ] as const
  return references.map(([key, words]) => ({
    name: `normalize: ${SOUND_SECONDS / 60} min of ${name}, accepted until success, median`,
    measured: formatSeconds(medianOf("job")),
    reference: `${formatSeconds(medianOf(key))} ${words}`,
    comparison: formatRatio(medianOf("job") / medianOf(key)),
    goal: `<= ${GOAL_RATIO} x`,
    isMet: medianOf("job") <= medianOf(key) * GOAL_RATIO,
  }))
}
