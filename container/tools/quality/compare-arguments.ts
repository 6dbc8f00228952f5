import { gopOf } from "../renditions/video-encoder.ts"
import type { FrameRate } from "../renditions/video-encoder.ts"
import { shareFilters } from "./filter-chain.ts"
import { METRICS } from "./metrics.ts"
import type { QualityMetric } from "./metrics.ts"
import type { Place } from "./sample-places.ts"

/** How long before a place the source is sought, and from when on its frames are kept, in seconds. */
export type PreRoll = { seekSeconds: number; keptSeconds: number }

export type Comparison = {
  /** `startSeconds` is the time of its own clock that is 0 in the renditions. */
  source: { name: string; videoStream: number; startSeconds: number }
  /** Renditions of one rate; `log` is the name of what the metric writes of one. */
  renditions: readonly { name: string; filters: readonly string[]; log: string }[]
  frameRate: FrameRate
  place: Place
  preRoll: PreRoll
  metric: QualityMetric
}

/** Turning a picture is one of the encoder's filters. */
const AS_STORED = ["-noautorotate"]

/** Decoders of renditions are many, and each thread of one holds frames. */
const RENDITION_THREADS = 2

/**
 * Frames that a decoder shows before the first keyframe refer to others that it has not seen. Where
 * a format cannot be sought by keyframes, ffmpeg begins anywhere.
 */
const FROM_KEYFRAME = "select='if(gt(key,0),st(0,1),0)+ld(0)'"

/**
 * Arguments of ffmpeg that compare the frames of a place of renditions with those of their source.
 * Frames are paired by number: the times of the source stay its own (`-copyts`), lose the start that
 * the encoder's frames lost too, and go through the encoder's filters, which end in a constant rate;
 * so it does not matter where a seek leads, but for what is not there and is left out.
 */
export function compareArguments(comparison: Comparison): string[] {
  const { renditions, metric } = comparison
  const compared = renditions.map(
    ({ log }, at) => `[made${at}][source${at}]${METRICS[metric].filter(log)}[out${at}]`,
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

function sourceInput(comparison: Comparison): string[] {
  const { source, preRoll } = comparison
  const seconds = startOf(comparison) - preRoll.seekSeconds
  const seek = seconds > 0 ? seekTo(seconds + source.startSeconds) : []
  return [...AS_STORED, ...seek, "-i", source.name]
}

/** Begins at the last keyframe up to the place; half a frame is for times that are rounded. */
function renditionInput({ frameRate, place }: Comparison, name: string): string[] {
  const { frames, seconds } = frameRate
  const gop = gopOf(frameRate)
  const keyframe = Math.floor(place.first / gop) * gop
  const seek = keyframe > 0 ? seekTo(((keyframe + 0.5) * seconds) / frames) : []
  return [...AS_STORED, "-threads", String(RENDITION_THREADS), ...seek, "-i", name]
}

/** Input options of a seek to a time of the file's own clock; what is decoded from there is kept. */
function seekTo(seconds: number): string[] {
  return ["-noaccurate_seek", "-seek_timestamp", "1", "-ss", seconds.toFixed(6)]
}

/** One decode for all; what the chains begin with in common is done once too. */
function referenceChains(comparison: Comparison): string[] {
  const { source, renditions } = comparison
  const isSought = startOf(comparison) > comparison.preRoll.seekSeconds
  const { shared, rests } = shareFilters(renditions.map(({ filters }) => filters))
  const keptFrom = startOf(comparison) - comparison.preRoll.keptSeconds
  const head = [
    ...(isSought ? [FROM_KEYFRAME] : []),
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

function renditionChains(comparison: Comparison): string[] {
  const filters = numberedFrames(comparison).join(",")
  return comparison.renditions.map((_, at) => `[${at + 1}:v:0]${filters}[made${at}]`)
}

/** Filters that leave the frames of the place, each with its number as its time. */
function numberedFrames({ frameRate, place }: Comparison): string[] {
  return [
    `settb=${frameRate.seconds}/${frameRate.frames}`,
    `trim=start_pts=${place.first}:end_pts=${place.first + place.count}`,
    "format=yuv420p",
  ]
}

/** When a place begins, in seconds of the rendition. */
function startOf({ frameRate, place }: Comparison): number {
  return (place.first * frameRate.seconds) / frameRate.frames
}
