import { renderTaskDefinition } from "../../../src/contract/tasks/render.ts"
import type { RenderResult, RenderWork } from "../../../src/contract/tasks/render.ts"
import { TASK_WARNINGS_MAX } from "../../../src/contract/warning.ts"
import { checkAndStoreOutputs } from "../outputs/finish-outputs.ts"
import { measureRenditionQuality } from "./measure-quality.ts"
import type { EncodedRendition, ComparisonSource } from "./measure-quality.ts"
import { encodeRenditions } from "./encode-renditions.ts"
import { startRunClock } from "../run-clock.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext, TaskOutcome } from "../run-context.ts"
import { downloadSingleInput, probeSingleInput } from "../single-input.ts"
import { renditionFilters } from "./encode-arguments.ts"
import type { SourceWithVideo, PlannedRendition } from "./encode-arguments.ts"
import { readRenderSource } from "./render-source.ts"
import type { SourceVideoStream } from "./render-source.ts"
import { isFrameRateUnknown } from "./frame-rate.ts"
import { planRenditions, duplicateRenditionWarnings } from "./plan-renditions.ts"
import { createCallerFailure } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { countStreamFrames } from "./count-frames.ts"
import { createNoVideoFailure } from "./render-failures.ts"
import { explainUnreadableFile } from "../../tools/ffmpeg/unreadable-inputs.ts"

export const renderTaskHandler = { definition: renderTaskDefinition, run: runRenderTask }

const ENCODE_SHARE = { from: 0, to: 0.95 }

/**
 * Runs a render task: probes the source, encodes the requested renditions and stores the
 * renditions.
 */
async function runRenderTask(
  context: RunContext,
  work: RenderWork,
): Promise<TaskOutcome<RenderResult>> {
  const input = await downloadSingleInput(context, "A transcode")
  const clock = startRunClock(context, { secondsMax: work.run_seconds_max, what: "a transcode" })
  const source = await readPictureSource(context, clock, input)
  if ("failure" in source) return source
  const { renditions, same } = planRenditions(source.video, work)
  const startedMs = performance.now()
  const runs = await encodeRenditions(context, clock, { source, renditions, share: ENCODE_SHARE })
  if ("failure" in runs) return runs
  const encodeMs = performance.now() - startedMs
  const encoded = renditions.map((rendition) => describeRendition(source.video, rendition))
  const qualities = work.measures_quality
    ? await measureRenditionQuality(context, clock, toComparisonSource(source), encoded, encodeMs)
    : null
  const made = work.outputs.filter(({ key }) => renditions.some((each) => each.key === key))
  const outcome = await checkAndStoreOutputs(context, made, runs)
  if ("failure" in outcome) return outcome
  const outputs = outcome.outputs.map((output) => {
    const quality = qualities?.get(output.key)
    return quality ? { ...output, quality } : output
  })
  const warnings = [...duplicateRenditionWarnings(same), ...outcome.warnings].slice(
    0,
    TASK_WARNINGS_MAX,
  )
  const places = same.map(({ key, rendition }) => ({ key, same_as: rendition.key }))
  return { result: { kind: "render", outputs, same: places, warnings } }
}

/** Describes a rendition for its quality measurement: its file, filters and frame rate. */
function describeRendition(
  video: SourceVideoStream,
  rendition: PlannedRendition,
): EncodedRendition {
  const { key, name, target } = rendition
  const { shared, own } = renditionFilters(video, [rendition])
  return { key, name, filters: [...shared, ...own.flat()], frameRate: target.frameRate }
}

/** Describes the source video for the quality measurement of its renditions. */
export function toComparisonSource(source: SourceWithVideo): ComparisonSource {
  const { audio, durationSeconds, format, name, startSeconds, video } = source
  const used = [video, ...(audio ? [audio] : [])].map((each) => startSeconds + each.startSeconds)
  return {
    name,
    videoStream: video.index,
    startSeconds: outputZeroTimestamp({ formatName: format, startSeconds }, used),
    durationSeconds,
  }
}

/**
 * Container formats whose timestamps may jump, by ffmpeg's names. For these formats, ffmpeg takes
 * the start of the streams that an output uses as time 0 of the output.
 */
const DISCONTINUOUS_FORMATS = new Set(["mpegts", "mpegtsraw", "mpeg", "ogg", "live_flv"])

/**
 * Returns the timestamp of an input file, in seconds, that becomes time 0 in an output of ffmpeg.
 * The timestamp is the start time of the file. In formats whose timestamps may jump, it is the
 * earliest start of the streams that the output uses (`mappedStarts`).
 */
export function outputZeroTimestamp(
  file: { formatName: string; startSeconds: number },
  mappedStarts: readonly number[],
): number {
  const isDiscontinuous = file.formatName.split(",").some((name) => DISCONTINUOUS_FORMATS.has(name))
  const first = Math.min(...mappedStarts)
  return isDiscontinuous && Number.isFinite(first)
    ? Math.max(file.startSeconds, first)
    : file.startSeconds
}

/**
 * Maximum frame rate that is computed by counting the frames of the source, in frames per second.
 * Higher results are replaced by the maximum, since no rendition has so many frames.
 */
const COUNTED_RATE_MAX = 240

/**
 * Probes the source of the renditions. Returns a failure if the source is not readable media or has
 * no video stream.
 */
async function readPictureSource(
  context: RunContext,
  clock: RunClock,
  name: string,
): Promise<SourceWithVideo | TaskFailure> {
  const probed = await probeSingleInput(context, name)
  if (!("probe" in probed)) {
    return createCallerFailure("invalid_input", explainUnreadableFile(probed), probed.lines)
  }
  const source = readRenderSource(probed.probe, name)
  const { video } = source
  if (!video) return createNoVideoFailure(source.hasUnknownVideo)
  if (!isFrameRateUnknown(video.rate)) return { ...source, video }
  const counted = await countStreamFrames(context, clock, { name, stream: video.index, at: 0 })
  const seconds = source.durationSeconds
  if ("failure" in counted || counted.frames === 0 || seconds === null) return { ...source, video }
  const perSecond = Math.min(counted.frames / seconds, COUNTED_RATE_MAX)
  const average = { frames: Math.round(perSecond * 1000), seconds: 1000 }
  return { ...source, video: { ...video, rate: { ...video.rate, average } } }
}
