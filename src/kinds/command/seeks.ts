import { parseFfmpegCommand } from "../../ffmpeg/command-line.ts"
import { doesFormatStoreExactDuration } from "../../contract/probe.ts"
import { describeSeekPastEnd, findSeeksPastEnd } from "../../ffmpeg/seek-past-end.ts"
import type { SeekPosition } from "../../ffmpeg/seek-past-end.ts"
import type { ProbeResult } from "../../contract/probe.ts"
import { replaceFileKeysByNames } from "../../ffmpeg/file-keys.ts"
import type { ResolvedInput } from "../kind.ts"
import type { CommandFault } from "../../domain/faults.ts"
import type { WorkspaceNamesByKey } from "./script.ts"

/**
 * Formats whose length ffprobe estimates from a bit rate or from some timestamps. MPEG transport
 * streams are absent: a concatenated stream restarts its timestamps, so that its length is unknown.
 */
const ESTIMATED_FORMATS = /^(?:mp3|aac|ac3|eac3|flv|asf|mxf|nut)(?:,|$)/
/** Largest factor by which an estimated length may be wrong. */
const ESTIMATE_FACTOR_MAX = 20

/**
 * Returns a fault for each `-ss` past the end of an input with a known length. Inputs without a
 * probe, images and lists are checked only by the run.
 */
export function findSeekFaults(
  { field, words }: { field: string; words: readonly string[] },
  names: WorkspaceNamesByKey,
  inputs: readonly ResolvedInput[],
): CommandFault[] {
  const probes = inputs.flatMap(({ key, file }) =>
    file?.probe ? [[names.inputs.get(key) ?? key, file.probe] as const] : [],
  )
  const lengths = new Map(probes.map(([name, { duration = 0 }]) => [name, duration]))
  const probed = new Map(probes)
  const argv = replaceFileKeysByNames(words, {
    get: (key) => names.inputs.get(key) ?? names.outputs.get(key),
  })
  const late = findSeeksPastEnd(parseFfmpegCommand(argv), (name, position) => {
    const probe = probed.get(name)
    return probe ? latestEnd(probe, position) : null
  })
  return late.map((seek) => ({
    field,
    option: "-ss",
    code: "seek_behind_end" as const,
    message: `${describeSeekPastEnd(seek, lengths)}; seek to an earlier time`,
  }))
}

/** Returns an upper bound of a file's length in seconds; null if no bound is known. */
function latestEnd(
  { duration, format_name: format }: ProbeResult,
  position: SeekPosition,
): number | null {
  if (duration === undefined) return null
  // For a concatenated Ogg file, ffprobe reports the length of a single part, the first or the
  // last. An `-ss` before an output can reach all parts, because ffmpeg reads all of them.
  if (format === "ogg" && position === "output") return null
  if (doesFormatStoreExactDuration(format) || format === "avi") return duration
  return ESTIMATED_FORMATS.test(format) ? duration * ESTIMATE_FACTOR_MAX : null
}
