import type { TaskFailure } from "../../task-failure.ts"
import { countEncodePasses } from "../../tools/renditions/video-encoder-arguments.ts"
import type { VideoEncodeTarget } from "../../tools/renditions/video-encoder-arguments.ts"
import type { FinishedFfmpegRun } from "../../tools/ffmpeg/run-ffmpeg.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { runFfmpegPass } from "../run-ffmpeg-pass.ts"
import { countStreamFrames } from "./count-frames.ts"
import { renditionEncodeArguments } from "./encode-arguments.ts"
import type { SourceWithVideo, PlannedRendition } from "./encode-arguments.ts"
import { toFramesPerSecond } from "./frame-rate.ts"
import type { RenditionCodec } from "../../../src/contract/tasks/render.ts"
import { VIDEO_ENCODER_PRESETS } from "../../tools/renditions/encoder-presets.ts"
import { buildWorkspacePath } from "../../sandbox/workspace.ts"
import { readMovieHeader } from "../../tools/ffmpeg/movie-header.ts"
import {
  encryptedVideoFailure,
  tooLargeRenditionFailure,
  undecodableVideoFailure,
} from "./render-failures.ts"

type Share = { from: number; to: number }

const CORRECTIONS_MAX = 2
/** Estimated duration of a first pass, relative to a second pass. */
const FIRST_PASS_WEIGHT = 0.5

/**
 * Encodes all renditions into the workspace. Returns the runs of ffmpeg that wrote the renditions.
 */
export async function encodeRenditions(
  context: RunContext,
  clock: RunClock,
  of: { source: SourceWithVideo; renditions: readonly PlannedRendition[]; share: Share },
): Promise<FinishedFfmpegRun[] | TaskFailure> {
  const { source, renditions, share } = of
  const { limits } = context.taskSandbox.sandbox
  const groups = groupRenditionsByEncodeLimits(renditions, source.video.size, limits)
  const runs = await encodeGroups(context, clock, { source, groups, share })
  if ("failure" in runs) return runs
  for (const rendition of renditions) {
    const corrected = await reencodeMissedBitrate(context, clock, {
      source,
      rendition,
      at: share.to,
    })
    if ("failure" in corrected) return corrected
    runs.push(...corrected)
  }
  return runs
}

type Groups = { source: SourceWithVideo; groups: readonly PlannedRendition[][]; share: Share }

async function encodeGroups(
  context: RunContext,
  clock: RunClock,
  { source, groups, share }: Groups,
): Promise<FinishedFfmpegRun[] | TaskFailure> {
  const total = groups.reduce((sum, group) => sum + encodeWeight(group), 0)
  const finished: FinishedFfmpegRun[] = []
  let done = share.from
  for (const group of groups) {
    const from = done
    done += (encodeWeight(group) / total) * (share.to - share.from)
    const runs = await encodeGroup(context, clock, { source, group, share: { from, to: done } })
    if ("failure" in runs) return runs
    finished.push(...runs)
  }
  return finished
}

/**
 * Encodes a group of renditions in one process. The memory and threads of a group are only
 * estimated, so each rendition is encoded alone if the process exceeds its limits.
 */
async function encodeGroup(
  context: RunContext,
  clock: RunClock,
  of: { source: SourceWithVideo; group: readonly PlannedRendition[]; share: Share },
): Promise<FinishedFfmpegRun[] | TaskFailure> {
  const { source, group, share } = of
  const run = await encode(context, clock, of)
  if (!("failure" in run)) return [run]
  if (group.length > 1 && isEncodeLimitFailure(run)) {
    const groups = group.map((rendition) => [rendition])
    return await encodeGroups(context, clock, { source, groups, share })
  }
  return await judgeEncodeFailure(context, clock, source, run)
}

/** Runs all passes of a group of renditions. The last pass writes the renditions. */
async function encode(
  context: RunContext,
  clock: RunClock,
  of: { source: SourceWithVideo; group: readonly PlannedRendition[]; share: Share },
): Promise<FinishedFfmpegRun | TaskFailure> {
  const { source, group, share } = of
  const first = firstPassWeight(group)
  const middle = share.from + (first / encodeWeight(group)) * (share.to - share.from)
  if (first > 0) {
    const argv = renditionEncodeArguments(source, group, 1)
    const run = await runFfmpegPass(context, clock, { argv, from: share.from, to: middle })
    if ("failure" in run) return run
  }
  const argv = renditionEncodeArguments(source, group, 2)
  return await runFfmpegPass(context, clock, { argv, from: middle, to: share.to })
}

/**
 * Estimates the encoding effort of a group of renditions, by which progress is divided. A last pass
 * counts as the pixels of a frame, and a first pass as half of that.
 */
function encodeWeight(group: readonly PlannedRendition[]): number {
  return pixelsOf(group) + firstPassWeight(group)
}

function firstPassWeight(group: readonly PlannedRendition[]): number {
  return FIRST_PASS_WEIGHT * pixelsOf(group.filter(({ target }) => countEncodePasses(target) === 2))
}

function pixelsOf(group: readonly PlannedRendition[]): number {
  return group.reduce((sum, { target }) => sum + target.width * target.height, 0)
}

/**
 * Encodes a rendition again with a corrected bitrate while the rendition misses its target bitrate
 * and another encode may help.
 */
async function reencodeMissedBitrate(
  context: RunContext,
  clock: RunClock,
  of: { source: SourceWithVideo; rendition: PlannedRendition; at: number },
): Promise<FinishedFfmpegRun[] | TaskFailure> {
  const { source, at } = of
  const { bitrateKbps } = of.rendition.target
  const finished: FinishedFfmpegRun[] = []
  let { rendition } = of
  for (let count = 0; count < CORRECTIONS_MAX; count += 1) {
    const { encoderKbps, name, target } = rendition
    if (bitrateKbps === null || encoderKbps === null) break
    const counted = await countStreamFrames(context, clock, { name, stream: 0, at })
    if ("failure" in counted) return counted
    const seconds = counted.frames / toFramesPerSecond(target.frameRate)
    const measuredKbps = (counted.bytes * 8) / 1000 / seconds
    const next = computeCorrectedBitrate({ ...target, bitrateKbps }, { encoderKbps, measuredKbps })
    if (next === null) break
    rendition = { ...rendition, encoderKbps: next }
    const share = { from: at, to: at }
    const again = await encodeGroups(context, clock, { source, groups: [[rendition]], share })
    if ("failure" in again) return again
    finished.push(...again)
  }
  return finished
}

const MIB = 1024 ** 2

/**
 * Address space of an encoder for each codec, in bytes: a constant part (`base`), and a part for
 * each pixel of a frame. The values were measured at 480p to 4K with 16 threads, and rounded up.
 */
const ENCODER_BYTES: Record<RenditionCodec, { base: number; perPixel: number }> = {
  h264: { base: 300 * MIB, perPixel: 350 },
  h265: { base: 500 * MIB, perPixel: 350 },
  vp9: { base: 300 * MIB, perPixel: 250 },
  av1: { base: 2200 * MIB, perPixel: 350 },
}
/**
 * Address space of ffmpeg without encoders, in bytes: a constant part, and a part for each pixel of
 * a frame. The address space includes the decoder and the frames between filters.
 */
const DECODER_BYTES = 600 * MIB
const DECODER_BYTES_PER_PIXEL = 100
/**
 * Share of a process's limits that the estimated address space and threads of a group may reach.
 * The rest is a reserve, since the actual use varies with the picture.
 */
const USED_SHARE = 0.8
/**
 * Number of threads of an encoder, by codec. SVT-AV1 starts about a hundred threads regardless of
 * its options, and hangs if fewer threads are available.
 */
const ENCODER_THREADS: Record<RenditionCodec, number> = { h264: 24, h265: 24, vp9: 20, av1: 110 }
/** Number of threads of ffmpeg without encoders, including the decoder and the filters. */
const DECODER_THREADS = 48
/** Maximum number of renditions that one process encodes. A larger number does not save time. */
const GROUP_MAX = 8

/** Limits of an encoding process: address space in bytes, and number of threads. */
export type EncodeLimits = { memoryBytes: number; threads: number }

/**
 * Groups renditions so that one process can encode each group within its limits. Each process
 * decodes the source once. Fewer groups are faster, since a decode takes about as long as a small
 * encode.
 */
export function groupRenditionsByEncodeLimits<Each extends { target: VideoEncodeTarget }>(
  renditions: readonly Each[],
  source: { width: number; height: number },
  limits: EncodeLimits,
): Each[][] {
  const decoder = DECODER_BYTES + DECODER_BYTES_PER_PIXEL * source.width * source.height
  const room = {
    bytes: limits.memoryBytes * USED_SHARE - decoder,
    threads: limits.threads * USED_SHARE - DECODER_THREADS,
  }
  const groups: { members: Each[]; bytes: number; threads: number }[] = []
  for (const rendition of renditions) {
    const bytes = encoderBytes(rendition.target)
    const threads = ENCODER_THREADS[rendition.target.codec]
    const group = groups.find(
      (each) =>
        each.members.length < GROUP_MAX &&
        each.bytes + bytes <= room.bytes &&
        each.threads + threads <= room.threads,
    )
    if (group) {
      group.members.push(rendition)
      group.bytes += bytes
      group.threads += threads
    } else groups.push({ members: [rendition], bytes, threads })
  }
  return groups.map(({ members }) => members)
}

function encoderBytes({ codec, width, height }: VideoEncodeTarget): number {
  const { base, perPixel } = ENCODER_BYTES[codec]
  return base + perPixel * width * height
}

/**
 * Largest relative deviation of the mean bitrate from the target that is accepted without another
 * encode. The API documentation promises at most 10 %.
 */
const TOLERANCE = 0.08
/**
 * Maximum factor by which the bitrate for the encoder may be lower than the target bitrate. If a
 * larger factor were needed, the encoder is assumed to be at its lowest quality, so that another
 * encode would not help.
 */
const EXCESS_MAX = 10
/**
 * Minimum share of the target bitrate for which another encode is tried. A stream with a smaller
 * share is assumed to have the best quality, so that a higher bitrate would not help.
 */
const FILLED_MIN = 0.5

/**
 * Returns the bitrate to pass to the encoder in another encode, in kbit/s. Returns null if the
 * measured bitrate is close enough to the target, or if another encode would not help.
 */
export function computeCorrectedBitrate(
  target: VideoEncodeTarget & { bitrateKbps: number },
  { encoderKbps, measuredKbps }: { encoderKbps: number; measuredKbps: number },
): number | null {
  const { codec, bitrateKbps } = target
  const ratio = measuredKbps / bitrateKbps
  if (!Number.isFinite(ratio) || Math.abs(ratio - 1) <= TOLERANCE) return null
  const wasRaised = encoderKbps > bitrateKbps
  if (ratio < 1 && (!VIDEO_ENCODER_PRESETS[codec].missesBelow || ratio < FILLED_MIN || wasRaised)) {
    return null
  }
  const asked = Math.max(1, Math.round(encoderKbps / ratio))
  return asked * EXCESS_MAX < bitrateKbps ? null : asked
}

/**
 * Failure codes that normally mean a mistake in the caller's command. For renditions, these codes
 * mean an error of the service, because the runner wrote the command.
 */
const COMMAND_CODES = new Set(
  (
    "command_failed decoder_not_found encoder_not_found filter_error invalid_input " +
    "invalid_option no_output stream_not_found"
  ).split(" "),
)

/** Failure codes of a process that exceeded its limit of memory or threads. */
const LIMIT_CODES = new Set(["out_of_memory", "process_limit"])

/** Reports whether an encode failed because the process exceeded its limit of memory or threads. */
export function isEncodeLimitFailure({ blame, failure }: TaskFailure): boolean {
  return blame === "caller" && LIMIT_CODES.has(failure.code)
}

/**
 * Decides whether the caller or the service caused a failed encode. The caller caused a failure
 * because of memory or threads, and a source without a decodable frame. The service caused other
 * errors in the ffmpeg command. All other failures are returned unchanged.
 */
async function judgeEncodeFailure(
  context: RunContext,
  clock: RunClock,
  source: SourceWithVideo,
  failed: TaskFailure,
): Promise<TaskFailure> {
  const { code, lines } = failed.failure
  if (isEncodeLimitFailure(failed)) return tooLargeRenditionFailure(code, lines)
  if (failed.blame === "ours" || !COMMAND_CODES.has(code)) return failed
  const isMovie = source.format.startsWith("mov,")
  const isEncrypted =
    isMovie &&
    (await readMovieHeader(buildWorkspacePath(context.workspace, source.name))).isEncrypted
  // Checks for encryption first, because a decoder may produce a frame from encrypted data by
  // chance.
  if (isEncrypted) return encryptedVideoFailure(lines)
  if (await decodesAny(context, clock, source)) return { ...failed, blame: "ours" }
  return undecodableVideoFailure(lines)
}

/** Reports whether at least one frame of the video stream can be decoded. */
async function decodesAny(
  context: RunContext,
  clock: RunClock,
  { name, video }: SourceWithVideo,
): Promise<boolean> {
  const argv = ["-i", name, "-map", `0:${video.index}`, "-frames:v", "1", "-f", "null", "-"]
  const run = await runFfmpegPass(context, clock, { argv, from: 0, to: 0 })
  return !("failure" in run) && run.notes.hasWritten
}
