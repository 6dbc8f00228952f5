import type { RenditionQuality } from "../../../src/contract/tasks/render.ts"
import { log } from "../../log.ts"
import type { ComparisonPreRoll } from "../../tools/quality/compare-arguments.ts"
import { meanQualityScore } from "../../tools/quality/quality-metrics.ts"
import type { QualityMetric } from "../../tools/quality/quality-metrics.ts"
import { planSampleSegments } from "../../tools/quality/sample-segments.ts"
import type { SampleSegment } from "../../tools/quality/sample-segments.ts"
import type { FrameRate } from "../../tools/renditions/video-encoder-arguments.ts"
import type { RunClock } from "../run-clock.ts"
import { compareSegment } from "./compare-segment.ts"
import type { QualityMeasurementContext } from "./compare-segment.ts"
import { runLogFields } from "../run-context.ts"
import { createSandboxWithoutTask } from "../../sandbox/sandbox.ts"
import type { Sandbox } from "../../sandbox/sandbox.ts"
import { startToolProcess } from "../../sandbox/start-process.ts"

/**
 * Encoded rendition in the workspace. `key` is the key of the rendition's output. `filters` are the
 * filters that converted stored frames of the source (`-noautorotate`) to frames of the rendition.
 * Since a comparison may start in the middle of the video, the filters may depend only on frames
 * and timestamps, but not on STARTPTS, frame numbers or the option `start_time` of the filter
 * `fps`.
 */
export type EncodedRendition = {
  key: string
  name: string
  filters: readonly string[]
  frameRate: FrameRate
}

/**
 * Source with which renditions are compared. `videoStream` is the index of the video stream among
 * all streams, in ffprobe's order. `startSeconds` is the timestamp of the source that is time 0 in
 * the renditions: see `outputZeroTimestamp`.
 */
export type ComparisonSource = {
  name: string
  videoStream: number
  startSeconds: number
  durationSeconds: number | null
}

/**
 * Group of renditions with the same frame rate, which one process compares with the source, and the
 * state of the comparison.
 */
type Group = {
  renditions: readonly EncodedRendition[]
  frameRate: FrameRate
  places: SampleSegment[]
  /** Scores of the frames compared so far, by the output key of the rendition. */
  scores: Map<string, number[]>
  /**
   * Duration of the last comparison of one sample segment, in milliseconds; null before the first
   * comparison.
   */
  placeMs: number | null
  preRolls: readonly ComparisonPreRoll[]
  /** Whether a comparison of this group by ffmpeg has failed. Another comparison would fail too. */
  hasFailed: boolean
}

/**
 * Maximum duration of the quality measurement, and its planned duration, as shares of the duration
 * of the encode. The difference is a reserve, since durations are only estimated.
 */
const SHARE_MAX = 0.1
const SHARE_PLANNED = 0.08

/**
 * Minimum time limit for the first sample segment of a group of renditions, in milliseconds. The
 * minimum applies even if a tenth of the encode's duration is shorter.
 */
const FIRST_PLACE_MS_MIN = 5000

/**
 * Number of frames in a sample segment: usually PLACE_FRAMES, and LEAST_FRAMES after a short
 * encode. After a short encode, the planned duration of the measurement is less than PLACE_MS_MIN
 * milliseconds for each group of renditions.
 */
const PLACE_FRAMES = 12
const LEAST_FRAMES = 4
const PLACE_MS_MIN = 500

/**
 * Maximum number of renditions that one process compares. A larger number would keep too many
 * frames in memory.
 */
const GROUP_MAX = 4

/**
 * Pre-rolls of a comparison: times before a sample segment from which frames are decoded and kept.
 * The pre-rolls are tried in this order. The first pre-roll suits most files, which have frequent
 * frames and a keyframe index. The longer pre-rolls are for MPEG-TS, which has no keyframe index,
 * and for slide shows, whose frames last long.
 */
const PRE_ROLLS: readonly ComparisonPreRoll[] = [
  { seekSeconds: 0.5, keptSeconds: 0.5 },
  { seekSeconds: 10, keptSeconds: 0.5 },
  { seekSeconds: 10, keptSeconds: 10 },
]

/**
 * Measures how similar renditions are to their source. The result is the mean score of frames in up
 * to 16 sample segments of the video, by VMAF if ffmpeg supports VMAF, else by SSIM.
 *
 * The measurement takes at most a tenth of `encodeMs`, the duration of all encodes. Nevertheless,
 * each group of up to four renditions gets at least one sample segment of four frames, within five
 * seconds. If no segment gives scores, four frames at the start of the video are compared, within
 * the same time limit.
 *
 * Missing scores are logged and omitted from the result. The function throws only if the signal of
 * the run aborts.
 */
export async function measureRenditionQuality(
  context: QualityMeasurementContext,
  clock: Pick<RunClock, "leftMs">,
  source: ComparisonSource,
  encoded: readonly EncodedRendition[],
  encodeMs: number,
): Promise<ReadonlyMap<string, RenditionQuality>> {
  const passedMs = startStopwatch()
  const { sandbox } = context.taskSandbox
  const metric = await chooseMetric(sandbox, context.settings.toolPaths.ffmpeg)
  const groups = groupRenditions(encoded).map((renditions, _, { length }) => {
    const share = (encodeMs * SHARE_PLANNED) / length
    return createGroup(renditions, source, share < PLACE_MS_MIN ? LEAST_FRAMES : PLACE_FRAMES)
  })
  for (const { group, place } of interleavePlaces(groups)) {
    const leftMs = encodeMs * SHARE_MAX - passedMs()
    const plannedMs = encodeMs * SHARE_PLANNED - passedMs()
    if (group.hasFailed) continue
    if (group.placeMs !== null && group.placeMs > plannedMs) continue
    const limitMs = group.placeMs === null ? Math.max(leftMs, FIRST_PLACE_MS_MIN) : leftMs
    const timeLimitMs = Math.min(limitMs, clock.leftMs())
    await measurePlace(context, group, { source, place, metric, timeLimitMs })
  }
  for (const group of groups.filter(hasNoScores)) {
    const leftMs = Math.max(encodeMs * SHARE_MAX - passedMs(), FIRST_PLACE_MS_MIN)
    const place = { first: 0, count: LEAST_FRAMES }
    const timeLimitMs = Math.min(leftMs, clock.leftMs())
    await measurePlace(context, group, { source, place, metric, timeLimitMs })
  }
  return readQualities(context, metric, groups)
}

/**
 * Groups renditions that one process compares with the source. All renditions of a group have the
 * same frame rate, so a sample segment has the same frame numbers in each rendition.
 */
function groupRenditions(encoded: readonly EncodedRendition[]): EncodedRendition[][] {
  const byRate = Map.groupBy(encoded, ({ frameRate }) => `${frameRate.frames}/${frameRate.seconds}`)
  return [...byRate.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / GROUP_MAX) }, (_, at) =>
      all.slice(at * GROUP_MAX, (at + 1) * GROUP_MAX),
    ),
  )
}

function createGroup(
  renditions: readonly EncodedRendition[],
  { durationSeconds }: ComparisonSource,
  count: number,
): Group {
  const frameRate = renditions[0]?.frameRate ?? { frames: 1, seconds: 1 }
  const frames = ((durationSeconds ?? 0) * frameRate.frames) / frameRate.seconds
  const places = planSampleSegments(frames > 0 ? Math.ceil(frames) : null, count)
  const scores = new Map(renditions.map(({ key }): [string, number[]] => [key, []]))
  return {
    renditions,
    frameRate,
    places,
    scores,
    placeMs: null,
    preRolls: PRE_ROLLS,
    hasFailed: false,
  }
}

/**
 * Returns the sample segments of all groups in the order of measurement: the first segment of each
 * group, then the second segment of each group, and so on.
 */
function interleavePlaces(groups: readonly Group[]): { group: Group; place: SampleSegment }[] {
  const most = Math.max(0, ...groups.map(({ places }) => places.length))
  return Array.from({ length: most }, (_, at) => at).flatMap((at) =>
    groups.flatMap((group) => {
      const place = group.places[at]
      return place ? [{ group, place }] : []
    }),
  )
}

/**
 * Compares the renditions of a group with the source in one sample segment, and adds the scores to
 * the group. Tries longer and longer pre-rolls, the decoded times before the segment, until all
 * renditions get scores.
 */
async function measurePlace(
  context: QualityMeasurementContext,
  group: Group,
  of: {
    source: ComparisonSource
    place: SampleSegment
    metric: QualityMetric
    timeLimitMs: number
  },
): Promise<void> {
  const passedMs = startStopwatch()
  for (const [tries, preRoll] of group.preRolls.entries()) {
    const timeLimitMs = of.timeLimitMs - passedMs()
    const compared = await compareSegment(context, { ...of, ...group, preRoll, timeLimitMs })
    if (compared.scores.every((scores) => scores.length > 0)) {
      group.preRolls = group.preRolls.slice(tries)
      group.renditions.forEach(({ key }, at) => {
        group.scores.get(key)?.push(...(compared.scores[at] ?? []))
      })
      break
    }
    group.hasFailed = compared.end === "failed"
    if (compared.end !== "compared") break
  }
  group.placeMs = passedMs()
}

/**
 * Reports whether a group without scores should be compared at the start of the video, where no
 * seek is needed. Returns false if the start was already tried or ffmpeg has failed.
 */
function hasNoScores({ scores, places, hasFailed }: Group): boolean {
  if (hasFailed || places.every(({ first }) => first === 0)) return false
  return [...scores.values()].every((frameScores) => frameScores.length === 0)
}

function readQualities(
  context: QualityMeasurementContext,
  metric: QualityMetric,
  groups: readonly Group[],
): Map<string, RenditionQuality> {
  const qualities = new Map<string, RenditionQuality>()
  for (const { scores } of groups) {
    for (const [key, frameScores] of scores) {
      const score = meanQualityScore(metric, frameScores)
      if (score === null) logLeftOut(context, key)
      else qualities.set(key, { metric, score })
    }
  }
  return qualities
}

/** Starts a stopwatch. The returned function reports the milliseconds since the start. */
function startStopwatch(): () => number {
  const startedMs = performance.now()
  return () => performance.now() - startedMs
}

function logLeftOut({ status }: QualityMeasurementContext, key: string): void {
  log("warn", "quality.left_out", { ...runLogFields(status), output: key })
}

const LIST_MS_MAX = 10_000
const LIST_BYTES_MAX = 1024 * 1024

/** Chosen quality metrics, by the path of ffmpeg. */
const metrics = new Map<string, QualityMetric>()

/**
 * Returns VMAF if a build of ffmpeg supports VMAF, else SSIM, which every build supports. Remembers
 * the result for each path of ffmpeg.
 */
async function chooseMetric(sandbox: Sandbox, ffmpeg: string): Promise<QualityMetric> {
  const known = metrics.get(ffmpeg)
  if (known) return known
  const end = await startToolProcess({
    tool: ffmpeg,
    argv: ["-hide_banner", "-filters"],
    taskSandbox: createSandboxWithoutTask(sandbox),
    cwd: "/",
    access: "none",
    timeLimitMs: LIST_MS_MAX,
    stdoutBytesMax: LIST_BYTES_MAX,
    signal: new AbortController().signal,
  }).finished
  const metric = /^ *\S+ +libvmaf +VV->V/m.test(end.stdout) ? "vmaf" : "ssim"
  if (end.exitCode === 0) metrics.set(ffmpeg, metric)
  return metric
}
