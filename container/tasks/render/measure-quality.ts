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
import type { QualityContext } from "./compare-segment.ts"
import { runLogFields } from "../run-context.ts"
import { sandboxOutsideTasks } from "../../sandbox/sandbox.ts"
import type { Sandbox } from "../../sandbox/sandbox.ts"
import { startToolProcess } from "../../sandbox/start-process.ts"

/**
 * Encoded rendition in the workspace. `key` is the key of its output. `filters` converted stored
 * frames of the source (`-noautorotate`) to frames of the rendition. They may depend only on frames
 * and timestamps, and not on STARTPTS, frame numbers or a start time of `fps`, since the comparison
 * starts in the middle of the film.
 */
export type EncodedRendition = {
  key: string
  name: string
  filters: readonly string[]
  frameRate: FrameRate
}

/**
 * Source of the renditions. `videoStream` is the index among all streams, as ffprobe counts them.
 * `startSeconds` is the timestamp of the source that is time 0 in the renditions: see
 * `outputZeroTimestamp`.
 */
export type ComparisonSource = {
  name: string
  videoStream: number
  startSeconds: number
  durationSeconds: number | null
}

/**
 * Renditions with the same frame rate, which one process compares, and the state of their
 * comparison.
 */
type Group = {
  renditions: readonly EncodedRendition[]
  frameRate: FrameRate
  places: SampleSegment[]
  /** Scores of the compared frames, by the key of the rendition. */
  scores: Map<string, number[]>
  /** Duration of the last comparison at one place, in milliseconds; null before the first. */
  placeMs: number | null
  preRolls: readonly ComparisonPreRoll[]
  /** Whether ffmpeg failed for this group. Another comparison would then fail too. */
  hasFailed: boolean
}

/**
 * Maximum duration of the measurement, and its planned duration, as shares of the duration of the
 * encode. The difference is a reserve, since durations are estimates.
 */
const SHARE_MAX = 0.1
const SHARE_PLANNED = 0.08

/**
 * Minimum time limit for the first place of a group, in milliseconds, even if the share of a short
 * encode is less.
 */
const FIRST_PLACE_MS_MIN = 5000

/**
 * Number of frames at a place, and the smaller number after a short encode, whose share of time is
 * less than PLACE_MS_MIN for each group.
 */
const PLACE_FRAMES = 12
const LEAST_FRAMES = 4
const PLACE_MS_MIN = 500

/**
 * Maximum number of renditions that one process compares. More would keep too many frames in
 * memory.
 */
const GROUP_MAX = 4

/**
 * Pre-rolls in the order in which they are tried. The first suits most files, which have frequent
 * frames and a keyframe index. The longer ones are for MPEG-TS, which has no such index, and for
 * slides, whose frames last long.
 */
const PRE_ROLLS: readonly ComparisonPreRoll[] = [
  { seekSeconds: 0.5, keptSeconds: 0.5 },
  { seekSeconds: 10, keptSeconds: 0.5 },
  { seekSeconds: 10, keptSeconds: 10 },
]

/**
 * Measures how similar renditions are to their source: the mean score of frames at up to 16 places
 * of the film, by VMAF if ffmpeg supports it, else by SSIM.
 *
 * The measurement takes at most a tenth of `encodeMs`, the duration of all encodes. But each group
 * of up to four renditions gets at least one place of four frames, within five seconds. If no place
 * gives scores, four frames at the start of the film are compared, within the same time.
 *
 * Missing scores are logged and omitted from the result. Throws only if the signal of the run
 * aborts.
 */
export async function measureRenditionQuality(
  context: QualityContext,
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
 * Groups renditions that one process compares. All renditions of a group have the same frame rate;
 * a place therefore has the same frame numbers in each.
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
 * Returns the places of all groups in the order of measurement: the first place of each group, then
 * the second of each, and so on.
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
 * Compares the renditions of a group at a place, and adds the scores to the group. Tries the
 * pre-rolls in order until one gives scores.
 */
async function measurePlace(
  context: QualityContext,
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
 * Reports whether no place of a group has given scores and the start of the film, which needs no
 * seek, has not been tried.
 */
function hasNoScores({ scores, places, hasFailed }: Group): boolean {
  if (hasFailed || places.every(({ first }) => first === 0)) return false
  return [...scores.values()].every((frameScores) => frameScores.length === 0)
}

function readQualities(
  context: QualityContext,
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

/** Starts a stopwatch. The returned function returns the milliseconds since the start. */
function startStopwatch(): () => number {
  const startedMs = performance.now()
  return () => performance.now() - startedMs
}

function logLeftOut({ status }: QualityContext, key: string): void {
  log("warn", "quality.left_out", { ...runLogFields(status), output: key })
}

const LIST_MS_MAX = 10_000
const LIST_BYTES_MAX = 1024 * 1024

/** Chosen metrics, by the path of ffmpeg. */
const metrics = new Map<string, QualityMetric>()

/**
 * Returns VMAF if this build of ffmpeg supports it, else SSIM, which every build supports. Asks
 * each build of ffmpeg only once.
 */
async function chooseMetric(sandbox: Sandbox, ffmpeg: string): Promise<QualityMetric> {
  const known = metrics.get(ffmpeg)
  if (known) return known
  const end = await startToolProcess({
    tool: ffmpeg,
    argv: ["-hide_banner", "-filters"],
    taskSandbox: sandboxOutsideTasks(sandbox),
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
