import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { z } from "zod"
import { generateSpeech, LONG_SPEECH_TEXT } from "../../test/support/media/speech.ts"
import { makeJsonBody } from "../cli/client/caller.ts"
import { makeMediaFile, serviceToolPaths } from "../cli/client/media.ts"
import { waitUntilSuccess, uploadMedia } from "../cli/client/requests.ts"
import { measureLoudness } from "../cli/loudness-meter.ts"
import { fliteStep } from "../setup/test-tools.ts"
import { ensureSetupSteps } from "../setup/step.ts"
import { formatRatio, formatSeconds } from "./figure.ts"
import type { BenchResult } from "./figure.ts"
import type { BenchResources } from "./scope.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"
import { measureMediansInRotation, measureMs } from "./statistics.ts"

const SOUND_SECONDS = 240
const ROUNDS = { warmUp: 0, counted: 3 }
const GOAL_RATIO = 1.05
const AAC = "-c:a aac -b:a 160k"
const CHORD = [220, 277.18, 329.63]
const PICTURE =
  "-f lavfi -i testsrc2=size=640x360:rate=10 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -shortest"

const TARGET = { lufs: -23, range: 20, truePeak: -1 }
const LOUDNORM = `loudnorm=I=${TARGET.lufs}:LRA=${TARGET.range}:TP=${TARGET.truePeak}`

const created = z.object({ normalization_id: z.string() })
const measured = z.object({
  input_i: z.string(),
  input_lra: z.string(),
  input_tp: z.string(),
  input_thresh: z.string(),
  target_offset: z.string(),
})

/** Path of a file to normalize, and ffmpeg's options for the codec of its audio. */
type Source = { path: string; codec: string }

/** Measures jobs that normalize loudness, and compares the time with that of ffmpeg alone. */
export async function benchNormalize(scope: BenchResources): Promise<BenchResult[]> {
  await ensureSetupSteps([fliteStep])
  const folder = await scope.makeFolder()
  const service = await startBenchService(scope)
  const sound = await makeSound(folder)
  const video = await makeMediaFile(folder, "long.mp4", `-i ${sound} ${PICTURE} ${AAC}`)
  return [
    ...(await benchPasses(service, folder, "WAV", { path: sound, codec: "-c:a pcm_s16le" })),
    ...(await benchPasses(service, folder, "MP4 with a picture", { path: video, codec: AAC })),
  ]
}

/**
 * Makes a stereo WAV file at 48 kHz with speech over tones that resemble music. The file is quieter
 * than the target loudness.
 */
async function makeSound(folder: string): Promise<string> {
  await generateSpeech(folder, { name: "story.wav", text: LONG_SPEECH_TEXT })
  const tones = CHORD.map((hertz, index) => `sin(2*PI*${hertz}*t)*(1+sin(${index + 1}*t))/2`)
  const music = `aevalsrc=0.05*(${tones.join("+")})|0.05*(${tones.toReversed().join("-")}):s=48000`
  const mix =
    "[0:a]aresample=48000,pan=stereo|c0=c0|c1=c0,volume=-9dB[speech];" +
    "[speech][1:a]amix=inputs=2:duration=longest:normalize=0[mix]"
  const inputs = `-stream_loop -1 -i ${join(folder, "story.wav")} -f lavfi -i ${music}`
  const words = `${inputs} -filter_complex ${mix} -map [mix] -t ${SOUND_SECONDS}`
  return await makeMediaFile(folder, "long.wav", words)
}

async function benchPasses(
  service: BenchService,
  folder: string,
  name: string,
  source: Source,
): Promise<BenchResult[]> {
  const fileId = await uploadMedia(service.caller, source.path)
  const medianOf = await measureMediansInRotation(ROUNDS, {
    job: () => measureMs(() => normalize(service, fileId)),
    loudnorm: () => measureMs(() => passByLoudnorm(source, folder)),
    gain: () => measureMs(() => passByGain(source, folder)),
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

async function normalize({ caller, whenLogged }: BenchService, fileId: string): Promise<void> {
  const body = { file_url: `svc_id://${fileId}` }
  const { text } = await caller.ask("POST", "/v1/normalize", makeJsonBody(body))
  const { normalization_id: id } = created.parse(JSON.parse(text))
  // Waits for the task's log line, because polling would take CPU time from the measured job.
  await whenLogged("task.ended", id)
  await waitUntilSuccess(caller, `/v1/normalize/${id}`)
}

/**
 * Normalizes a file by three runs of ffmpeg with the filter loudnorm: measure, apply, and measure
 * the result.
 */
async function passByLoudnorm({ path, codec }: Source, folder: string): Promise<void> {
  const found = await measureByLoudnorm(path)
  const applied =
    `${LOUDNORM}:linear=true:measured_I=${found.input_i}:measured_LRA=${found.input_lra}` +
    `:measured_TP=${found.input_tp}:measured_thresh=${found.input_thresh}:offset=${found.target_offset}`
  // Sets the sample rate, because loudnorm's output otherwise has 192 kHz.
  const output = await apply(path, `-af ${applied} -ar 48000 ${codec}`, folder)
  await measureByLoudnorm(output)
}

/**
 * Normalizes a file by the meter ebur128 and a constant gain, which needs less CPU time than
 * loudnorm.
 */
async function passByGain({ path, codec }: Source, folder: string): Promise<void> {
  const found = await measureLoudness(path)
  if (!found) throw new Error("there is no sound")
  const output = await apply(path, `-af volume=${TARGET.lufs - found.lufs}dB ${codec}`, folder)
  await measureLoudness(output)
}

async function measureByLoudnorm(path: string) {
  const options = "-nostdin -hide_banner -nostats".split(" ")
  const filter = `${LOUDNORM}:print_format=json`
  const words = [...options, "-i", path, "-map", "0:a:0", "-af", filter, "-f", "null", "-"]
  const { stderr } = await promisify(execFile)(serviceToolPaths.ffmpeg, words)
  return measured.parse(JSON.parse(stderr.slice(stderr.lastIndexOf("{"))))
}

async function apply(path: string, words: string, folder: string): Promise<string> {
  const output = join(folder, `bare-${path.slice(path.lastIndexOf("/") + 1)}`)
  const kept = "-map 0 -c copy -map_metadata 0"
  const line = `-v error -nostdin -y -i ${path} ${kept} ${words} ${output}`
  await promisify(execFile)(serviceToolPaths.ffmpeg, line.split(" "))
  return output
}
