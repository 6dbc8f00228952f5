import { z } from "zod"
import type { ProbeResult } from "../../../contract/probe.ts"
import { formatBytes, formatCount, formatDuration } from "../../components/format.ts"

/** Properties of a stream or of the container, with a title, as readable text. */
export type ProbeSection = { title: string; facts: (readonly [term: string, text: string])[] }

const text = z.string().min(1).max(200).optional().catch(undefined)
const number = z.number().optional().catch(undefined)
const tags = z.record(z.string(), z.unknown()).catch({})

/** Schema of a stream in ffprobe's output. An unexpected value counts as missing. */
const stream = z.object({
  codec_type: text,
  codec_name: text,
  codec_long_name: text,
  profile: text,
  width: number,
  height: number,
  display_aspect_ratio: text,
  avg_frame_rate: text,
  pix_fmt: text,
  color_transfer: text,
  channels: number,
  channel_layout: text,
  sample_rate: text,
  bit_rate: text,
  duration: text,
  disposition: z.record(z.string(), z.unknown()).catch({}),
  tags,
})

const format = z.object({
  format_long_name: text,
  format_name: text,
  duration: text,
  size: text,
  bit_rate: text,
  tags,
})

type Stream = z.infer<typeof stream>

/** Returns the known properties of each stream of a file. */
export function describeStreams({ streams }: ProbeResult): ProbeSection[] {
  return streams.map((section, at) => {
    const read = stream.parse(section)
    const type = read.codec_type ?? "unknown"
    const facts = [
      ["Codec", codecOf(read)],
      ...pictureFacts(read),
      ...soundFacts(read),
      ["Bit rate", bitRate(read.bit_rate)],
      ["Duration", seconds(read.duration)],
      ["Language", tag(read.tags, "language", ["und"])],
      ["Title", tag(read.tags, "title")],
      ["Disposition", marksOf(read.disposition)],
    ] as const
    return { title: `${capitalized(type)} · stream ${at}`, facts: withoutUnknown(facts) }
  })
}

/** Returns the known properties of a file's container. */
export function describeContainerFormat(probe: ProbeResult): ProbeSection {
  const read = format.parse(probe.format)
  const facts = [
    ["Format", read.format_long_name ?? read.format_name],
    ["Duration", seconds(read.duration)],
    ["Size", positive(read.size, formatBytes)],
    ["Bit rate", bitRate(read.bit_rate)],
    ["Title", tag(read.tags, "title")],
    ["Encoder", tag(read.tags, "encoder")],
  ] as const
  return { title: "Container", facts: withoutUnknown(facts) }
}

/**
 * Converts a fraction in ffprobe's output, such as `30000/1001`, to a number with at most two
 * decimals; undefined for a fraction that is not positive.
 */
export function formatFraction(fraction: string | undefined): string | undefined {
  const [above = Number.NaN, below = 1] = (fraction ?? "").split("/").map(Number)
  const value = above / below
  return Number.isFinite(value) && value > 0 ? String(Number(value.toFixed(2))) : undefined
}

type Fact = readonly [term: string, text: string | undefined]

function pictureFacts(read: Stream): Fact[] {
  const { width, height, display_aspect_ratio: ratio } = read
  if (read.codec_type !== "video") return []
  const size = width && height ? `${width} × ${height}` : undefined
  const rate = formatFraction(read.avg_frame_rate)
  const isHdr = /^(?:smpte2084|arib-std-b67)$/.test(read.color_transfer ?? "")
  return [
    ["Picture", size && ratio && ratio !== "N/A" ? `${size} (${ratio})` : size],
    ["Frame rate", rate && `${rate} fps`],
    ["Pixels", read.pix_fmt && (isHdr ? `${read.pix_fmt}, HDR` : read.pix_fmt)],
  ]
}

function soundFacts(read: Stream): Fact[] {
  const { channels, channel_layout: layout } = read
  if (read.codec_type !== "audio") return []
  const count = channels === undefined ? undefined : `${channels}`
  return [
    ["Channels", count && layout ? `${count} (${layout})` : count],
    ["Sample rate", positive(read.sample_rate, (hertz) => `${formatCount(hertz)} Hz`)],
  ]
}

function codecOf({ codec_long_name: long, codec_name: short, profile }: Stream) {
  const name = long !== undefined && long !== "unknown" ? long : short
  return name && profile && profile !== "unknown" ? `${name}, ${profile}` : name
}

const TOLD_MARKS = ["default", "forced", "attached_pic", "hearing_impaired", "comment"]

function marksOf(disposition: Record<string, unknown>): string | undefined {
  const marks = TOLD_MARKS.filter((mark) => disposition[mark] === 1)
  return marks.length > 0 ? marks.join(", ").replaceAll("_", " ") : undefined
}

function tag(all: Record<string, unknown>, name: string, empty: string[] = []) {
  const { [name]: value } = all
  return typeof value === "string" && !empty.includes(value) ? value.slice(0, 200) : undefined
}

function bitRate(bits: string | undefined): string | undefined {
  return positive(bits, (value) => {
    return value < 1e6 ? `${Math.round(value / 1000)} kb/s` : `${(value / 1e6).toFixed(1)} Mb/s`
  })
}

function seconds(value: string | undefined): string | undefined {
  return positive(value, formatDuration)
}

function positive(value: string | undefined, show: (value: number) => string) {
  const read = Number(value)
  return value !== undefined && Number.isFinite(read) && read > 0 ? show(read) : undefined
}

function withoutUnknown(facts: readonly Fact[]): ProbeSection["facts"] {
  return facts.flatMap(([term, value]) => (value === undefined ? [] : [[term, value] as const]))
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
