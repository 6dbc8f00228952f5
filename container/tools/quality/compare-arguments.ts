import { keyframeIntervalFrames } from "../renditions/video-encoder-arguments.ts"
import type { FrameRate } from "../renditions/video-encoder-arguments.ts"
import { QUALITY_METRIC_DEFINITIONS } from "./quality-metrics.ts"
import type { QualityMetric } from "./quality-metrics.ts"
import type { SampleSegment } from "./sample-segments.ts"

/**
 * Times before a sample segment, the part of a video in which frames are compared, in seconds.
 * Decoding of the source starts `seekSeconds` before the segment. Decoded frames are kept from
 * `keptSeconds` before the segment on.
 */
export type ComparisonPreRoll = { seekSeconds: number; keptSeconds: number }

export type QualityComparison = {
  /**
   * Source of the renditions. `startSeconds` is the timestamp of the source that is time 0 in the
   * renditions.
   */
  source: { name: string; videoStream: number; startSeconds: number }
  /**
   * Renditions to compare, which have the same frame rate. `log` is the name of the file to which
   * ffmpeg writes the scores of the rendition.
   */
  renditions: readonly { name: string; filters: readonly string[]; log: string }[]
  frameRate: FrameRate
  place: SampleSegment
  preRoll: ComparisonPreRoll
  metric: QualityMetric
}

/**
 * Options of ffmpeg that keep the stored orientation of the picture, because the filters of the
 * renditions rotate the picture.
 */
const WITHOUT_ROTATION = ["-noautorotate"]

/**
 * Number of threads for the decoder of each rendition. The number is small because several decoders
 * run at the same time and each thread keeps frames in memory.
 */
const RENDITION_THREADS = 2

/**
 * Filter that drops frames before the first keyframe. In formats without a keyframe index, ffmpeg
 * may seek to any frame, and frames before a keyframe then depend on frames that are missing.
 */
const AFTER_KEYFRAME = "select='if(gt(key,0),st(0,1),0)+ld(0)'"

/**
 * Returns the arguments of ffmpeg that compare frames of renditions with frames of their source in
 * one sample segment of the video.
 *
 * Frames are paired by their number. The source keeps its timestamps (`-copyts`), is shifted by the
 * same start as in the encode, and passes the filters of the rendition, which produce a constant
 * frame rate. Therefore the result does not depend on the frame to which ffmpeg seeks, and missing
 * frames are omitted.
 */
export function qualityComparisonArguments(comparison: QualityComparison): string[] {
  const { renditions, metric } = comparison
  const compared = renditions.map(
    ({ log }, at) =>
      `[made${at}][source${at}]${QUALITY_METRIC_DEFINITIONS[metric].filter(log)}[out${at}]`,
  )
  const graph = [...referenceChains(comparison), ...renditionChains(comparison), ...compared]
  return [
    ..."-v error -copyts".split(" "),
    ...sourceInput(comparison),
    ...renditions.flatMap(({ name }) => renditionInput(comparison, name)),
    "-filter_complex",
    graph.join(";"),
    ...renditions.flatMap((_, at) => ["-map", `[out${at}]`]),
    ..."-f null -".split(" "),
  ]
}

function sourceInput(comparison: QualityComparison): string[] {
  const { source, preRoll } = comparison
  const seconds = placeStartSeconds(comparison) - preRoll.seekSeconds
  const seek = seconds > 0 ? seekTo(seconds + source.startSeconds) : []
  return [...WITHOUT_ROTATION, ...seek, "-i", source.name]
}

/**
 * Returns the input options of a rendition, which seek to the last keyframe before the sample
 * segment. The seek time is half a frame later than the keyframe, because timestamps are rounded.
 */
function renditionInput({ frameRate, place }: QualityComparison, name: string): string[] {
  const { frames, seconds } = frameRate
  const gop = keyframeIntervalFrames(frameRate)
  const keyframe = Math.floor(place.first / gop) * gop
  const seek = keyframe > 0 ? seekTo(((keyframe + 0.5) * seconds) / frames) : []
  return [...WITHOUT_ROTATION, "-threads", String(RENDITION_THREADS), ...seek, "-i", name]
}

/**
 * Returns input options that seek to a timestamp of the file, and that keep all frames that are
 * decoded after the seek.
 */
function seekTo(seconds: number): string[] {
  return ["-noaccurate_seek", "-seek_timestamp", "1", "-ss", seconds.toFixed(6)]
}

/**
 * Returns filter chains that decode the source once for all renditions. Filters at the start of the
 * chain that all renditions share run only once.
 */
function referenceChains(comparison: QualityComparison): string[] {
  const { source, renditions } = comparison
  const isSought = placeStartSeconds(comparison) > comparison.preRoll.seekSeconds
  const { shared, rests } = splitCommonFilters(renditions.map(({ filters }) => filters))
  const keptFrom = placeStartSeconds(comparison) - comparison.preRoll.keptSeconds
  const head = [
    ...(isSought ? [AFTER_KEYFRAME] : []),
    `setpts=PTS-round(${source.startSeconds}/TB)`,
    ...(isSought ? [`trim=start=${keptFrom.toFixed(6)}`] : []),
    ...shared,
    `split=${rests.length}`,
  ]
  const parts = rests.map((_, at) => `[part${at}]`).join("")
  return [
    `[0:${source.videoStream}]${head.join(",")}${parts}`,
    ...rests.map((rest, at) => {
      return `[part${at}]${[...rest, ...numberedFrames(comparison)].join(",")}[source${at}]`
    }),
  ]
}

function renditionChains(comparison: QualityComparison): string[] {
  const filters = numberedFrames(comparison).join(",")
  return comparison.renditions.map((_, at) => `[${at + 1}:v:0]${filters}[made${at}]`)
}

/**
 * Returns filters that keep only the frames of the sample segment, and set the timestamp of each
 * frame to the frame number.
 */
function numberedFrames({ frameRate, place }: QualityComparison): string[] {
  return [
    `settb=${frameRate.seconds}/${frameRate.frames}`,
    `trim=start_pts=${place.first}:end_pts=${place.first + place.count}`,
    "format=yuv420p",
  ]
}

/** Returns the start time of the sample segment in the renditions, in seconds. */
function placeStartSeconds({ frameRate, place }: QualityComparison): number {
  return (place.first * frameRate.seconds) / frameRate.frames
}

/**
 * Splits filter chains into the filters that all chains share at their start, and the rest of each
 * chain.
 */
export function splitCommonFilters(chains: readonly (readonly string[])[]): {
  shared: readonly string[]
  rests: string[][]
} {
  const [first = []] = chains
  const differing = first.findIndex((filter, at) => chains.some((chain) => chain[at] !== filter))
  const length = differing === -1 ? first.length : differing
  return { shared: first.slice(0, length), rests: chains.map((chain) => chain.slice(length)) }
}
