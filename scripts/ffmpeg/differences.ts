import { execFile } from "node:child_process"
import { promisify } from "node:util"

const OUTPUT_BYTES_MAX = 4 * 1024 * 1024

/**
 * Kinds of components. The option of ffmpeg with the same name, such as `-filters`, lists the
 * components; the pattern matches a line of the list.
 */
const KINDS = [
  ["filters", /^ [A-Z.|]{2,3} +(\S+) +\S+->\S+/],
  ["encoders", /^ [VAS][A-Z.]{5} (?!=)(\S+)/],
  ["decoders", /^ [VAS][A-Z.]{5} (?!=)(\S+)/],
  ["muxers", /^ [D ]E(?:[d ] | )([^\s=]+)/],
  ["demuxers", /^ D[E ](?:[d ] | )([^\s=]+)/],
  ["protocols", /^ {2}(\S+)$/],
  ["bsfs", /^(\S+)$/],
  ["devices", /^ [D ][E ] +(?!=)(\S+)/],
] as const

type Kind = (typeof KINDS)[number][0]

/**
 * Components of one kind that one ffmpeg has and another lacks, and the reason; null without a
 * known reason.
 */
export type FfmpegDifference = { kind: Kind; names: string[]; why: string | null }

/**
 * Returns the components that the ffmpeg program `has` contains and the program `lacks` does not,
 * grouped by their kind (codec, filter, …) and by the reason for which they are absent.
 */
export async function findFfmpegDifferences(
  has: string,
  lacks: string,
): Promise<FfmpegDifference[]> {
  const found: FfmpegDifference[] = []
  for (const [kind] of KINDS) {
    const names = await listComponentNames(has, kind)
    const there = new Set(await listComponentNames(lacks, kind))
    const missing = names.filter((name) => !there.has(name))
    const byReason = Map.groupBy(missing, (name) => reasonFor(kind, name))
    for (const [why, names] of byReason) found.push({ kind, names, why })
  }
  return found
}

/** Formats differences as a Markdown table. */
export function formatFfmpegDifferences(differences: readonly FfmpegDifference[]): string {
  const rows = differences.map(({ kind, names, why }) => {
    return `| ${kind} | ${names.map((name) => `\`${name}\``).join(" ")} | ${why ?? ""} |`
  })
  return ["| what | names | why not |", "| --- | --- | --- |", ...rows].join("\n")
}

/** Parses the names of one kind of components from a list that ffmpeg prints. */
export function parseComponentNames(kind: Kind, listed: string): string[] {
  const pattern = KINDS.find(([name]) => name === kind)?.[1]
  const found = listed.split("\n").flatMap((line) => pattern?.exec(line)?.[1]?.split(",") ?? [])
  return [...new Set(found)].toSorted()
}

/** Returns the names of one kind of components that an ffmpeg or ffprobe has. */
export async function listComponentNames(program: string, kind: Kind): Promise<string[]> {
  const options = { maxBuffer: OUTPUT_BYTES_MAX }
  const { stdout } = await promisify(execFile)(program, ["-hide_banner", `-${kind}`], options)
  return parseComponentNames(kind, stdout)
}

function reasonFor(kind: string, name: string): string | null {
  const found = REASONS.find(([kinds, names]) => kinds.includes(kind) && names.test(name))
  return found?.[2] ?? null
}

/**
 * Reason why the project's own ffmpeg lacks components of Debian's ffmpeg: their kinds, a pattern
 * of their names, and the reason.
 */
type Reason = readonly [kinds: string, names: RegExp, why: string]

const CODECS = "encoders decoders"
const FORMATS = "muxers demuxers"

/** Reasons for missing components, in order. The first match applies. */
const REASONS: readonly Reason[] = [
  [
    "protocols",
    /^(?:async|cache|concatf|data|fd|md5|subfile|tee|prompeg|hls|bluray)$/,
    "no command may name it",
  ],
  ["protocols", /./, "a command has no network"],
  ["devices", /./, "a command has no device"],
  [FORMATS, /^(?:rtp|rtp_mpegts|rtsp|sap|sdp|whip|libamqp|librist)$/, "a command has no network"],
  ["demuxers", /^(?:dash|imf)$/, "refused: a list of media that lie elsewhere"],
  [
    FORMATS,
    /^(?:alsa|caca|fbdev|opengl|oss|pulse|sdl,?sdl2|sdl2?|xv|v4l2|video4linux2|dvdvideo|iec61883|jack|kmsgrab|libcdio|libdc1394|openal|x11grab|dvd\w*)$/,
    "a command has no device",
  ],
  ["demuxers", /^lib(?:gme|openmpt|modplug)$/, "refused: not a format that is read"],
  ["muxers", /^chromaprint$/, "its library loads all of Debian's ffmpeg"],
  [
    CODECS,
    /_(?:amf|cuvid|nvenc|omx|qsv|v4l2m2m|vaapi|vulkan|d3d12va|mf)$/,
    "a command has no device",
  ],
  ["bsfs", /./, "belongs to a device"],
  [
    "filters",
    /_(?:amf|cuda|npp|opencl|qsv|vaapi|vulkan)$|^hw(?:upload|download|map)|^(?:openclsrc|libplacebo|scale_vt)$/,
    "a command has no device",
  ],
  ["filters", /^(?:ladspa|lv2|frei0r|frei0r_src)$/, "refused: loads code"],
  ["filters", /^a?zmq$/, "a command has no network"],
  ["filters", /^(?:asr|ocr|dnn_\w+)$/, "refused, or needs a model that this service does not have"],
  ["filters", /^flite$/, "25 MB of voices; speech is not made here"],
  ["encoders", /^librav1e$/, "libsvtav1 and libaom-av1 encode AV1"],
  ["encoders", /^libshine$/, "libmp3lame encodes MP3"],
  [CODECS, /^libjxl(?:_anim)?$/, "its library costs every start more than most others do together"],
  [CODECS, /^libcodec2$/, "speech of amateur radio"],
  ["decoders", /^librsvg$/, "SVG needs Cairo, Pango and a loader of pictures"],
]
