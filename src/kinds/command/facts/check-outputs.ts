import { allOptions, isTextName, lastValue, secondsLeft } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { hasExactLength } from "../../../contract/exact-length.ts"
import { parseTime } from "../../../contract/media-time.ts"
import { quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import type { Probes } from "./check-streams.ts"
import { choosesCodec, encoderOf, mediumOf, muxersOf } from "./codecs.ts"
import type { Medium } from "./codecs.ts"
import { takenBy } from "./output-streams.ts"
import { isRatio } from "./values.ts"
import { wrongKeyFrames } from "./expressions.ts"
import { readChains } from "./graph.ts"
import type { ChainFilter } from "./graph.ts"
import type { Known } from "./known.ts"

/** Filters that let each picture through. */
const ONE_EACH =
  /^(?:scale|crop|pad|format|setsar|setdar|hflip|vflip|transpose|eq|hue|drawtext|drawbox|drawgrid|unsharp|null|boxblur|gblur|negate|curves|rotate|subtitles|ass|fade)$/
/** Tags of codecs in the formats of MP4. */
const TAG_LENGTH = 4

type Place = { file: ReadFile; command: ReadCommand; known: Known; probes: Probes }

/** Outputs that would be nothing, or more than their name can hold, and options of theirs that point nowhere. */
export function checkOutputs(command: ReadCommand, known: Known, probes: Probes): Refusal[] {
  return command.files.flatMap((file) => {
    if (file.kind !== "output") return []
    const place = { file, command, known, probes }
    return [
      ...file.options.flatMap((option) => {
        const message = option.value === null ? null : describe(option, option.value, place)
        return message === null ? [] : [refuse(option.word, message)]
      }),
      ...checkPicture(place),
      ...checkSegments(place),
    ]
  })
}

function refuse(option: string, message: string): Refusal {
  return { code: "invalid_option", option, message: `${option}: ${message}` }
}

function describe({ name, word }: ReadOption, value: string, place: Place): string | null {
  const { file, command, known } = place
  switch (name) {
    case "t":
      return parseTime(value) === 0 && !isTextName(file.word) && !isCopied(file)
        ? "0 seconds are nothing; write how long the output is to be, as -t 10"
        : null
    case "frames":
    case "vframes":
      return value === "0" && file.options.every((each) => each.name !== "map")
        ? "0 frames are nothing; write -frames:v 1 for one picture"
        : null
    case "map_metadata":
    case "map_chapters":
      return describeSource(value, command)
    case "metadata":
      return describePlace(word)
    case "bsf":
      return describeBsf(value, word, place)
    case "force_key_frames":
      return describeKeyFrames(value)
    case "tag":
    case "vtag":
    case "atag":
      return /^(?:mp4|mov|ipod)$/.test(muxersOf(file, known)?.[0]?.name ?? "")
        ? describeTag(value)
        : null
    case "pix_fmt":
      return value.includes(",") ? `${quote(value)}: expected one pixel format, as yuv420p` : null
    default:
      return null
  }
}

/** What -metadata is for, behind its colon. */
function describePlace(word: string): string | null {
  if (/^-metadata:[vad](?::|$)/.test(word)) {
    return `streams are named behind s here; write ${word.replace(":", ":s:")}`
  }
  return /^-metadata:s:[a-z]{2,}$/.test(word) || /^-metadata:s:[^vVasdtupgmi#\d]/.test(word)
    ? "it names no streams; write v, a or s behind s, as -metadata:s:a:0"
    : null
}

/** Bitstream filters that take one codec. */
const BSF_CODECS: Record<string, [medium: Medium, codec: string]> = {
  h264_mp4toannexb: ["V", "h264"],
  h264_metadata: ["V", "h264"],
  hevc_mp4toannexb: ["V", "hevc"],
  hevc_metadata: ["V", "hevc"],
  aac_adtstoasc: ["A", "aac"],
}

function describeBsf(value: string, word: string, { file, known, command, probes }: Place) {
  const [name = ""] = value.split(/[=,]/, 1)
  const takes = Object.hasOwn(BSF_CODECS, name) ? BSF_CODECS[name] : undefined
  const medium = /^-bsf:([va])$/.exec(word)?.[1]?.toUpperCase()
  if (!takes || medium === undefined) return null
  if (medium !== takes[0])
    return `${name} is for ${takes[1]}; write it behind -bsf:${takes[0].toLowerCase()}`
  const [muxer] = muxersOf(file, known) ?? []
  const streams = muxer && takenBy(file, muxer, { command, probes })?.streams
  const own = streams?.filter((stream) => stream.medium === medium) ?? []
  if (own.length !== 1 || encoderOf(file, takes[0], known) !== "copy" || own[0]?.codec === takes[1])
    return null
  return `${name} is for ${takes[1]}, and the stream is ${own[0]?.codec ?? ""}; leave it out`
}

function isCopied({ options }: ReadFile): boolean {
  return options.some(({ name, value }) => choosesCodec(name) && value === "copy")
}

function describeSource(value: string, { files }: ReadCommand): string | null {
  const number = /^(\d+)/.exec(value)?.[1]
  const count = files.filter(({ kind }) => kind === "input").length
  if (number === undefined || Number(number) < count) return null
  const highest = count === 1 ? "the only one is 0" : `they are 0 to ${count - 1}`
  return `${quote(value)} asks for input ${number}, and inputs count from 0: ${highest}; write -1 for none`
}

function describeKeyFrames(value: string): string | null {
  if (/[\\'"]/.test(value) || /^(?:source|scd)/.test(value)) return null
  if (value.startsWith("expr:")) {
    const wrong = wrongKeyFrames(value.slice(5))
    return wrong === null ? null : `${quote(value)}: ${wrong}`
  }
  const wrong = value.split(",").find((part) => {
    return !/^\s*chapters/.test(part) && parseTime(part.trim().replace(/^-/, "")) === null
  })
  return wrong === undefined
    ? null
    : `${quote(value)}: expected times with commas between, as 0,2,4, or expr:gte(t,n_forced*2)`
}

function describeTag(value: string): string | null {
  return value.length === TAG_LENGTH || /^(?:0x[\da-f]+|\d+)$/i.test(value)
    ? null
    : `${quote(value)}: a tag has ${TAG_LENGTH} letters, as hvc1 or avc1`
}

/** One picture's name for all the pictures of a film. */
function checkPicture({ file, command, known, probes }: Place): Refusal[] {
  const [muxer] = muxersOf(file, known) ?? []
  const isPattern = /%|\*/.test(file.word)
  const isOne = file.options.some(({ name }) => /^(?:update|strftime|frame_pts|map)$/.test(name))
  const words = allOptions(command)
  const isBeyond = words.some(({ name }) => /^(?:filter_complex\w*|lavfi|stream_loop)$/.test(name))
  if (muxer?.name !== "image2" || isPattern || isOne || isBeyond) return []
  const frames = Number(lastValue(file, "frames") ?? lastValue(file, "vframes") ?? Infinity)
  if (Math.min(frames, framesOf(file, command, probes)) < 2) return []
  const message = `the output ${quote(file.word)} is one picture, and the input has many; write -frames:v 1 for the first one, or a pattern as frame_%03d.png for all of them`
  return [{ code: "invalid_option", message }]
}

/** How many pictures come out at least, as far as that is known; 0 where it is not. */
function framesOf(file: ReadFile, { files }: ReadCommand, probes: Probes): number {
  const [input, ...others] = files.filter(({ kind }) => kind === "input")
  const probe = probes.get(input?.word ?? "")
  if (!input || !probe || others.length > 0 || !hasExactLength(probe.format_name)) return 0
  if (input.options.some(({ name }) => !/^(?:ss|t|to|accurate_seek)$/.test(name))) return 0
  const video = probe.streams.find((stream) => stream["codec_type"] === "video")
  const rate = /^(\d+)\/(\d+)$/.exec(String(video?.["avg_frame_rate"] ?? video?.["r_frame_rate"]))
  const perSecond = Number(rate?.[1]) / Number(rate?.[2])
  // Sound may last longer than pictures do.
  const seconds = Number(video?.["duration"]) || probe.duration
  if (!(perSecond > 0) || seconds === undefined) return 0
  let made = perSecond
  for (const option of file.options) {
    const { name, value } = option
    if (/^(?:vsync|fps_mode|c|codec|vcodec)$/.test(name) && mediumOf(option) !== "A") {
      if (value !== "mjpeg" && value !== "png") return 0
    }
    if (name === "vf" || name === "filter") {
      const read = readChains(value ?? "")
      if ("error" in read) return 0
      for (const filter of read.chains.flat()) {
        const rate = filter.name === "fps" ? rateOf(filter) : null
        if (rate === null && !ONE_EACH.test(filter.name) && !isShift(filter)) return 0
        made = rate ?? made
      }
    }
  }
  const asked = lastValue(file, "r")
  if (asked !== null && !isRatio(asked)) return 0
  const limit = asked === null ? made : Math.min(made, Number(asked) || 0)
  const before = secondsLeft(input, seconds) ?? 0
  const left = secondsLeft(file, before) ?? 0
  // The last one may be a part of a second short.
  return Math.floor(left * limit) - 1
}

/** Whether a filter lets each picture through at its distance from the others. */
function isShift({ name, text }: ChainFilter): boolean {
  return name === "setpts" && /^PTS-STARTPTS$/i.test(text)
}

/** The pictures a second that the filter fps makes; null where it does not say it by a number. */
function rateOf({ options: [rate, ...others] }: ChainFilter): number | null {
  if (!rate || others.length > 0 || (rate.name !== null && rate.name !== "fps")) return null
  const [, above = "", below = "1"] = /^(\d+(?:\.\d+)?)(?:\/(\d+))?$/.exec(rate.value) ?? []
  const perSecond = Number(above) / Number(below)
  return above !== "" && perSecond > 0 && perSecond < Infinity ? perSecond : null
}

/** Pieces that would all have one name. */
function checkSegments({ file, known }: Place): Refusal[] {
  const [muxer] = muxersOf(file, known) ?? []
  if (file.options.some(({ name }) => /^(?:strftime|segment_list_type)$/.test(name))) return []
  if (/^(?:stream_)?segment$/.test(muxer?.name ?? "") && !file.word.includes("%")) {
    const pattern = file.word.replace(/(\.\w+)?$/, "_%03d$1")
    return [
      {
        code: "invalid_option",
        message: `the output ${quote(file.word)} is one name, and -f segment writes many files; name it with a number, as ${pattern}`,
      },
    ]
  }
  const pattern = file.options.findLast(({ name }) => name === "hls_segment_filename")
  const isSingle = /single_file/.test(lastValue(file, "hls_flags") ?? "")
  if (muxer?.name !== "hls" || !pattern?.value || isSingle || pattern.value.includes("%")) return []
  return [
    refuse(
      pattern.word,
      `${quote(pattern.value)} is one name, and there are many segments; write a number into it, as seg_%03d.ts, or -hls_flags single_file`,
    ),
  ]
}
