import type { RenditionQuality } from "../../../src/contract/tasks/render.ts"
import { log } from "../../log.ts"
import { chooseMetric } from "../../tools/quality/choose-metric.ts"
import type { PreRoll } from "../../tools/quality/compare-arguments.ts"
import { meanScore } from "../../tools/quality/metrics.ts"
import type { QualityMetric } from "../../tools/quality/metrics.ts"
import { planPlaces } from "../../tools/quality/sample-places.ts"
import type { Place } from "../../tools/quality/sample-places.ts"
import type { FrameRate } from "../../tools/renditions/video-encoder.ts"
import type { RunClock } from "../run-clock.ts"
import { comparePlace } from "./compare-place.ts"
import type { MeasureContext } from "./compare-place.ts"
import { runFacts } from "../run-context.ts"

/**
 * A rendition in the workspace, under the key of its output. `filters` made its frames of those of
 * the source as they are stored (`-noautorotate`), and depend on nothing but these and their times:
 * no STARTPTS, no numbers of frames, no time at which fps begins.
 */
export type MadeRendition = {
  key: string
  name: string
  filters: readonly string[]
  frameRate: FrameRate
}

/**
 * The file that renditions were made of. `videoStream` is the number of the stream among all of the
 * file, as ffprobe counts; `startSeconds` what its own clock shows when that of renditions shows 0:
 * the start of the file, or where ffmpeg corrects that (MPEG-TS), of the streams that were mapped.
 */
export type RenditionSource = {
  name: string
  videoStream: number
  startSeconds: number
  durationSeconds: number | null
}

/** Renditions of one rate that are compared in one process, and how far that is. */
type Group = {
  renditions: readonly MadeRendition[]
  frameRate: FrameRate
  places: Place[]
  /** Scores of frames by the keys of renditions. */
  scores: Map<string, number[]>
  /** What the last place took, in milliseconds; null before there is one. */
  placeMs: number | null
  preRolls: readonly PreRoll[]
  /** Whether ffmpeg has failed over them, as it would again. */
  hasFailed: boolean
}

/** What measuring may cost of the encode, and how much of that is planned, since no cost is known. */
const SHARE_MAX = 0.1
const SHARE_PLANNED = 0.08

/** What the first place of a group may take, where the share of a short encode is less. */
const FIRST_PLACE_MS_MIN = 5000

/** Frames of a place, and of the one place of an encode whose share is hardly a start of ffmpeg. */
const PLACE_FRAMES = 12
const LEAST_FRAMES = 4
const PLACE_MS_MIN = 500

/** More files open at a time have too many frames in memory. */
const GROUP_MAX = 4

/**
 * In the order in which they are tried: most files have frames all the time and can be sought by
 * keyframes; MPEG-TS cannot, and a slide may last.
 */
const PRE_ROLLS: readonly PreRoll[] = [
  { seekSeconds: 0.5, keptSeconds: 0.5 },
  { seekSeconds: 10, keptSeconds: 0.5 },
  { seekSeconds: 10, keptSeconds: 10 },
]

/**
 * Measures how like their source renditions are, by VMAF where ffmpeg has it and else by SSIM, as
 * the mean of frames in up to 16 places of the film. It takes up to a tenth of `encodeMs`, which all
 * of them took together; at least though, for four renditions each, one place of four frames, which
 * is a start of ffmpeg and the way there from a keyframe, within five seconds, and where that led
 * to none, four at the start of the film, within as much. It fails no job: what cannot be measured is
 * logged and left out. Throws only where the run is to end.
 */
export async function measureQuality(
  context: MeasureContext,
  clock: Pick<RunClock, "leftMs">,
  source: RenditionSource,
  made: readonly MadeRendition[],
  encodeMs: number,
): Promise<ReadonlyMap<string, RenditionQuality>> {
  const passedMs = startStopwatch()
  const { sandbox } = context.taskSandbox
  const metric = await chooseMetric(sandbox, context.settings.toolPaths.ffmpeg)
  const groups = groupRenditions(made).map((renditions, _, { length }) => {
    const share = (encodeMs * SHARE_PLANNED) / length
    return openGroup(renditions, source, share < PLACE_MS_MIN ? LEAST_FRAMES : PLACE_FRAMES)
  })
  for (const { group, place } of inTurn(groups)) {
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

/** Renditions that one process compares: of one rate, so that a place is the same for all. */
function groupRenditions(made: readonly MadeRendition[]): MadeRendition[][] {
  const byRate = Map.groupBy(made, ({ frameRate }) => `${frameRate.frames}/${frameRate.seconds}`)
  return [...byRate.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / GROUP_MAX) }, (_, at) =>
      all.slice(at * GROUP_MAX, (at + 1) * GROUP_MAX),
    ),
  )
}

function openGroup(
  renditions: readonly MadeRendition[],
  { durationSeconds }: RenditionSource,
  count: number,
): Group {
  const frameRate = renditions[0]?.frameRate ?? { frames: 1, seconds: 1 }
  const frames = ((durationSeconds ?? 0) * frameRate.frames) / frameRate.seconds
  const places = planPlaces(frames > 0 ? Math.ceil(frames) : null, count)
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

/** The first place of each group, then the second of each, and so on. */
function inTurn(groups: readonly Group[]): { group: Group; place: Place }[] {
  const most = Math.max(0, ...groups.map(({ places }) => places.length))
  return Array.from({ length: most }, (_, at) => at).flatMap((at) =>
    groups.flatMap((group) => {
      const place = group.places[at]
      return place ? [{ group, place }] : []
    }),
  )
}

/** Adds the scores of a place to a group; from where the source is sought is tried out. */
async function measurePlace(
  context: MeasureContext,
  group: Group,
  of: { source: RenditionSource; place: Place; metric: QualityMetric; timeLimitMs: number },
): Promise<void> {
  const passedMs = startStopwatch()
  for (const [tries, preRoll] of group.preRolls.entries()) {
    const timeLimitMs = of.timeLimitMs - passedMs()
    const compared = await comparePlace(context, { ...of, ...group, preRoll, timeLimitMs })
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

/** Where no place could be sought, the start of the film is left, for which nothing has to be. */
function hasNoScores({ scores, places, hasFailed }: Group): boolean {
  if (hasFailed || places.every(({ first }) => first === 0)) return false
  return [...scores.values()].every((ofFrames) => ofFrames.length === 0)
}

function readQualities(
  context: MeasureContext,
  metric: QualityMetric,
  groups: readonly Group[],
): Map<string, RenditionQuality> {
  const qualities = new Map<string, RenditionQuality>()
  for (const { scores } of groups) {
    for (const [key, ofFrames] of scores) {
      const score = meanScore(metric, ofFrames)
      if (score === null) logLeftOut(context, key)
      else qualities.set(key, { metric, score })
    }
  }
  return qualities
}

/** Tells how many milliseconds have passed since it was started. */
function startStopwatch(): () => number {
  const startedMs = performance.now()
  return () => performance.now() - startedMs
}

function logLeftOut({ status }: MeasureContext, key: string): void {
  log("warn", "quality.left_out", { ...runFacts(status), output: key })
}
