import type { ProbeResult } from "../../../src/contract/probe.ts"
import { formatTable } from "../../local/table.ts"
import { isStill, mainStreams } from "./media-facts.ts"

export type Facts = {
  size_bytes: number
  ffprobe?: ProbeResult | undefined
  /** In LUFS; null for a file without sound. */
  loudness: number | null
}

/** A table of a file before and after; facts that neither has are left out. */
export function factsTable(before: Facts, after: Facts): string {
  const rows = facts
    .map(([name, tell]) => [name, tell(before), tell(after)] as const)
    .filter(([, one, other]) => one !== null || other !== null)
    .map(([name, one, other]) => [name, one ?? "-", other ?? "-"])
  return `\n${formatTable([["", "before", "after"], ...rows])}`
}

const facts: [string, (facts: Facts) => string | null][] = [
  ["duration", ({ ffprobe }) => (ffprobe && !isStill(ffprobe) ? seconds(ffprobe.duration) : null)],
  ["size", ({ size_bytes }) => `${Math.ceil(size_bytes / 1000)} kB`],
  ["resolution", ({ ffprobe }) => (ffprobe ? resolution(ffprobe) : null)],
  ["codecs", ({ ffprobe }) => (ffprobe ? codecs(ffprobe) : null)],
  ["loudness", ({ loudness }) => (loudness === null ? null : `${loudness.toFixed(1)} LUFS`)],
]

function seconds(duration: number | undefined): string | null {
  return duration === undefined ? null : `${duration.toFixed(1)} s`
}

function resolution(probe: ProbeResult): string | null {
  if (!mainStreams(probe).video || probe.width === undefined) return null
  return `${probe.width}x${probe.height ?? "?"}`
}

function codecs(probe: ProbeResult): string {
  const { video, audio } = mainStreams(probe)
  return [video, audio].flatMap((each) => each?.codec_name ?? []).join(", ")
}
