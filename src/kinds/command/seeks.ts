import { readCommand } from "../../contract/command-line.ts"
import { hasExactLength } from "../../contract/probe.ts"
import { describeLateSeek, findLateSeeks } from "../../contract/late-seek.ts"
import type { SeekPlace } from "../../contract/late-seek.ts"
import type { ProbeResult } from "../../contract/probe.ts"
import { substitute } from "../../contract/tasks/command.ts"
import type { FoundInput } from "../kind.ts"
import type { CommandFault } from "./fault-codes.ts"
import type { KeyNames } from "./script.ts"

/**
 * Formats of which ffprobe estimates it: from a bit rate, or from the times of some packets. The
 * times of a transport stream that was joined begin anew, so that nothing is known of its length.
 */
const ESTIMATED_FORMATS = /^(?:mp3|aac|ac3|eac3|flv|asf|mxf|nut)(?:,|$)/
/** No estimate is so far off. */
const ESTIMATE_FACTOR_MAX = 20

/**
 * Every `-ss` behind the end of an input whose length is known; where the probe is still to come,
 * and of pictures and lists, the run finds out.
 */
export function judgeSeeks(
  { field, words }: { field: string; words: readonly string[] },
  names: KeyNames,
  inputs: readonly FoundInput[],
): CommandFault[] {
  const probes = inputs.flatMap(({ key, file }) =>
    file?.probe ? [[names.inputs.get(key) ?? key, file.probe] as const] : [],
  )
  const lengths = new Map(probes.map(([name, { duration = 0 }]) => [name, duration]))
  const probed = new Map(probes)
  const named = substitute(words, {
    get: (key) => names.inputs.get(key) ?? names.outputs.get(key),
  })
  const late = findLateSeeks(readCommand(named), (name, place) => {
    const probe = probed.get(name)
    return probe ? latestEnd(probe, place) : null
  })
  return late.map((seek) => ({
    field,
    option: "-ss",
    code: "seek_behind_end" as const,
    message: `${describeLateSeek(seek, lengths)}, so that nothing is left; seek to an earlier place`,
  }))
}

/** The seconds that a file surely does not exceed; null where that is not known. */
function latestEnd(
  { duration, format_name: format }: ProbeResult,
  place: SeekPlace,
): number | null {
  if (duration === undefined) return null
  // Of Ogg files that were joined, the first or the last says how long it is, and all are read.
  if (format === "ogg" && place === "output") return null
  if (hasExactLength(format) || format === "avi") return duration
  return ESTIMATED_FORMATS.test(format) ? duration * ESTIMATE_FACTOR_MAX : null
}
