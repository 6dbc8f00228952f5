import type { TaskFailure } from "../../failures.ts"
import { correctedKbps } from "../../tools/renditions/rate-control.ts"
import { passesOf } from "../../tools/renditions/video-encoder.ts"
import type { FinishedRun } from "../../tools/run-ffmpeg.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { runPass } from "../run-pass.ts"
import { countFrames } from "./count-frames.ts"
import { encodeArguments } from "./encode-arguments.ts"
import type { PictureSource, PlannedRendition } from "./encode-arguments.ts"
import { judgeEncodeFailure, needsMoreRoom } from "./judge-failure.ts"
import { valueOf } from "./frame-rate.ts"
import { groupRenditions } from "./groups.ts"

type Share = { from: number; to: number }

const CORRECTIONS_MAX = 2
/** What a first pass takes of the time of a second. */
const FIRST_PASS_WEIGHT = 0.5

/** Encodes all renditions into the workspace; the runs are those that wrote them. */
export async function makeRenditions(
  context: RunContext,
  clock: RunClock,
  of: { source: PictureSource; renditions: readonly PlannedRendition[]; share: Share },
): Promise<FinishedRun[] | TaskFailure> {
  const { source, renditions, share } = of
  const { limits } = context.taskSandbox.sandbox
  const groups = groupRenditions(renditions, source.video.size, limits)
  const runs = await encodeGroups(context, clock, { source, groups, share })
  if ("failure" in runs) return runs
  for (const rendition of renditions) {
    const corrected = await correctRate(context, clock, { source, rendition, at: share.to })
    if ("failure" in corrected) return corrected
    runs.push(...corrected)
  }
  return runs
}

type Groups = { source: PictureSource; groups: readonly PlannedRendition[][]; share: Share }

async function encodeGroups(
  context: RunContext,
  clock: RunClock,
  { source, groups, share }: Groups,
): Promise<FinishedRun[] | TaskFailure> {
  const total = groups.reduce((sum, group) => sum + weightOf(group), 0)
  const made: FinishedRun[] = []
  let done = share.from
  for (const group of groups) {
    const from = done
    done += (weightOf(group) / total) * (share.to - share.from)
    const runs = await encodeGroup(context, clock, { source, group, share: { from, to: done } })
    if ("failure" in runs) return runs
    made.push(...runs)
  }
  return made
}

/** What a group needs is estimated: where it is more than a process may have, each is made alone. */
async function encodeGroup(
  context: RunContext,
  clock: RunClock,
  of: { source: PictureSource; group: readonly PlannedRendition[]; share: Share },
): Promise<FinishedRun[] | TaskFailure> {
  const { source, group, share } = of
  const run = await encode(context, clock, of)
  if (!("failure" in run)) return [run]
  if (group.length > 1 && needsMoreRoom(run)) {
    const groups = group.map((rendition) => [rendition])
    return await encodeGroups(context, clock, { source, groups, share })
  }
  return await judgeEncodeFailure(context, clock, source, run)
}

/** Runs all passes over a group; the last of them writes its renditions. */
async function encode(
  context: RunContext,
  clock: RunClock,
  of: { source: PictureSource; group: readonly PlannedRendition[]; share: Share },
): Promise<FinishedRun | TaskFailure> {
  const { source, group, share } = of
  const first = firstPassWeight(group)
  const middle = share.from + (first / weightOf(group)) * (share.to - share.from)
  if (first > 0) {
    const argv = encodeArguments(source, group, 1)
    const run = await runPass(context, clock, { argv, from: share.from, to: middle })
    if ("failure" in run) return run
  }
  const argv = encodeArguments(source, group, 2)
  return await runPass(context, clock, { argv, from: middle, to: share.to })
}

/** What the encodes of a group take, in pixels of a last pass. */
function weightOf(group: readonly PlannedRendition[]): number {
  return pixelsOf(group) + firstPassWeight(group)
}

function firstPassWeight(group: readonly PlannedRendition[]): number {
  return FIRST_PASS_WEIGHT * pixelsOf(group.filter(({ target }) => passesOf(target) === 2))
}

function pixelsOf(group: readonly PlannedRendition[]): number {
  return group.reduce((sum, { target }) => sum + target.width * target.height, 0)
}

/** Makes a rendition again that missed its rate, as often as it helps. */
async function correctRate(
  context: RunContext,
  clock: RunClock,
  of: { source: PictureSource; rendition: PlannedRendition; at: number },
): Promise<FinishedRun[] | TaskFailure> {
  const { source, at } = of
  const { bitrateKbps } = of.rendition.target
  const made: FinishedRun[] = []
  let { rendition } = of
  for (let count = 0; count < CORRECTIONS_MAX; count += 1) {
    const { askedKbps, name, target } = rendition
    if (bitrateKbps === null || askedKbps === null) break
    const counted = await countFrames(context, clock, { name, stream: 0, at })
    if ("failure" in counted) return counted
    const seconds = counted.frames / valueOf(target.frameRate)
    const measuredKbps = (counted.bytes * 8) / 1000 / seconds
    const next = correctedKbps({ ...target, bitrateKbps }, { askedKbps, measuredKbps })
    if (next === null) break
    rendition = { ...rendition, askedKbps: next }
    const share = { from: at, to: at }
    const again = await encodeGroups(context, clock, { source, groups: [[rendition]], share })
    if ("failure" in again) return again
    made.push(...again)
  }
  return made
}
