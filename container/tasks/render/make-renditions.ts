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
import { judgeEncodeFailure } from "./judge-failure.ts"
import { valueOf } from "./frame-rate.ts"
import { groupRenditions } from "./groups.ts"

type Share = { from: number; to: number }

/** A run of ffmpeg: a pass over a group of renditions. */
type Encode = { group: readonly PlannedRendition[]; pass: 1 | 2 }

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
  const { memoryBytes } = context.taskSandbox.sandbox.limits
  const groups = groupRenditions(renditions, source.video.size, memoryBytes)
  const runs = await encodeGroups(context, clock, { source, groups, share })
  if ("failure" in runs) return runs
  for (const rendition of renditions) {
    const corrected = await correctRate(context, clock, { source, rendition, at: share.to })
    if ("failure" in corrected) return corrected
    runs.push(...corrected)
  }
  return runs
}

async function encodeGroups(
  context: RunContext,
  clock: RunClock,
  of: { source: PictureSource; groups: readonly PlannedRendition[][]; share: Share },
): Promise<FinishedRun[] | TaskFailure> {
  const { source, groups, share } = of
  const encodes = groups.flatMap(passesOfGroup)
  const total = encodes.reduce((sum, encode) => sum + weightOf(encode), 0)
  const made: FinishedRun[] = []
  let done = share.from
  for (const encode of encodes) {
    const from = done
    done += (weightOf(encode) / total) * (share.to - share.from)
    const argv = encodeArguments(source, encode.group, encode.pass)
    const run = await runPass(context, clock, { argv, from, to: done })
    if ("failure" in run) return await judgeEncodeFailure(context, clock, source, run)
    if (encode.pass === 2) made.push(run)
  }
  return made
}

function passesOfGroup(group: readonly PlannedRendition[]): Encode[] {
  const hasTwo = group.some(({ target }) => passesOf(target) === 2)
  return [...(hasTwo ? [{ group, pass: 1 as const }] : []), { group, pass: 2 }]
}

function weightOf({ group, pass }: Encode): number {
  const encoded = pass === 2 ? group : group.filter(({ target }) => passesOf(target) === 2)
  const pixels = encoded.reduce((sum, { target }) => sum + target.width * target.height, 0)
  return pass === 1 ? FIRST_PASS_WEIGHT * pixels : pixels
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
