import type { ProbeResult } from "../../../src/contract/probe.ts"

const TEXT_LENGTH_MAX = 1000
const STREAMS_MAX = 50

type Section = Record<string, unknown>

/**
 * Shortens the result of a probe until its JSON has at most `bytesMax` bytes. First cuts long
 * texts, then removes tags, then all streams after the first fifty, and finally all streams and
 * format fields.
 */
export function shortenProbeResult(probe: ProbeResult, bytesMax: number): ProbeResult {
  if (fits(probe, bytesMax)) return probe
  const cut = mapSections(probe, withShortTexts)
  if (fits(cut, bytesMax)) return cut
  const tagless = mapSections(cut, withoutTags)
  if (fits(tagless, bytesMax)) return tagless
  const short = { ...tagless, streams: tagless.streams.slice(0, STREAMS_MAX) }
  return fits(short, bytesMax) ? short : { ...short, streams: [], format: {} }
}

function fits(probe: ProbeResult, bytesMax: number): boolean {
  return Buffer.byteLength(JSON.stringify(probe)) <= bytesMax
}

function mapSections(probe: ProbeResult, change: (section: Section) => Section): ProbeResult {
  return { ...probe, streams: probe.streams.map(change), format: change(probe.format) }
}

function withShortTexts(section: Section): Section {
  return Object.fromEntries(
    Object.entries(section).map(([name, value]): [string, unknown] => {
      if (typeof value === "string") return [name, value.slice(0, TEXT_LENGTH_MAX)]
      return [name, isSection(value) ? withShortTexts(value) : value]
    }),
  )
}

function withoutTags(section: Section): Section {
  const { tags: _, ...others } = section
  return others
}

function isSection(value: unknown): value is Section {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
