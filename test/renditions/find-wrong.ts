import { BOXES } from "./boxes.ts"
import { boxesOf, elementsOf } from "./file-order.ts"
import { clickAt, cornersOff, flashIndex } from "./moments.ts"
import { decodeWhole, probeAll } from "./read-media.ts"
import type { Decoded, Probed } from "./read-media.ts"
import type { Shape } from "./shape.ts"

/** A rendition as it was asked for, what the Job says of it, and where it was put. */
export type ExpectedRendition = {
  codec: "h264" | "h265" | "vp9" | "av1"
  size: keyof typeof BOXES
  container: "mp4" | "webm" | "mov"
  path: string
  output: {
    codec?: string | undefined
    resolution?: string | undefined
    duration_seconds?: number | undefined
    size_bytes: number
  }
  bytes: number
}

/** Inspection of a rendition: its errors and the times of its keyframes. */
export type Inspection = { wrong: string[]; keyframes: number[]; resolution: string }

const STREAMS = {
  h264: { name: "h264", tag: "avc1", profiles: ["High", "Main", "Constrained Baseline"] },
  h265: { name: "hevc", tag: "hvc1", profiles: ["Main"] },
  vp9: { name: "vp9", tag: "vp09", profiles: ["Profile 0"] },
  av1: { name: "av1", tag: "av01", profiles: ["Main"] },
}
/** Tags that a muxer writes of its own file. */
const OWN_TAGS =
  /^(?:major_brand|minor_version|compatible_brands|encoder|language|handler_name|vendor_id|duration|bps.*)$/i
const OWN_HANDLERS = /^(?:VideoHandler|SoundHandler)$/

const SECONDS_OFF = 0.12
const COLOR_OFF = 40
const KEYFRAME_SECONDS = 2
/** A frame or two of rates that people see, and what codecs of sound smear a click over. */
const SYNC_FRAMES = 1.5
const SYNC_SECONDS = 0.05

/** Looks at all that can be wrong with a rendition of a shape. */
export async function findWrong(shape: Shape, made: ExpectedRendition): Promise<Inspection> {
  const probed = await probeAll(made.path)
  const hasSound = probed.streams.some(({ codec_type }) => codec_type === "audio")
  const decoded = await decodeWhole(made.path, hasSound)
  const video = probed.streams.findIndex(({ codec_type }) => codec_type === "video")
  const packets = probed.packets.filter(({ stream_index }) => stream_index === video)
  const keys = packets.filter(({ flags }) => flags.startsWith("K"))
  const stream = probed.streams[video]
  const times = packets.map(({ pts_time }) => pts_time).toSorted((one, other) => one - other)
  return {
    wrong: [
      ...wrongStreams(shape, made, probed),
      ...wrongSize(shape, made, probed),
      ...wrongTimes(shape, probed, times),
      ...wrongKeyframes(
        keys.map(({ pts_time }) => pts_time),
        times,
      ),
      ...wrongContent(shape, decoded, times),
      ...wrongRecord(made, probed),
      ...(await wrongOrder(made)),
    ],
    keyframes: keys.map(({ pts_time }) => pts_time),
    resolution: `${String(stream?.["width"])}x${String(stream?.["height"])}`,
  }
}

function wrongStreams(
  shape: Shape,
  made: ExpectedRendition,
  { streams, chapters, format }: Probed,
): string[] {
  const [video, audio, ...more] = streams.toSorted((one, other) =>
    other.codec_type.localeCompare(one.codec_type),
  )
  const expected = STREAMS[made.codec]
  const facts: [string, unknown, readonly unknown[]][] = [
    ["codec", video?.codec_name, [expected.name]],
    ["tag", made.container === "webm" || video?.["codec_tag_string"], [true, expected.tag]],
    ["profile", video?.["profile"], expected.profiles],
    ["pixels", video?.["pix_fmt"], ["yuv420p"]],
    ["pixels' shape", video?.["sample_aspect_ratio"] ?? "1:1", ["1:1"]],
    ["fields", video?.["field_order"] ?? "progressive", ["progressive"]],
    ["range", video?.["color_range"], ["tv"]],
    ["matrix", video?.["color_space"], ["bt709", "smpte170m", "bt470bg"]],
    ["transfer", video?.["color_transfer"], ["bt709", "smpte170m"]],
    ["primaries", video?.["color_primaries"], ["bt709", "smpte170m", "bt470bg"]],
    ["side data", video?.side_data_list.map((each) => each.side_data_type).join(), [""]],
    [
      "sound",
      audio?.codec_name,
      shape.sound ? [made.container === "webm" ? "opus" : "aac"] : [undefined],
    ],
    ["channels", audio?.channels, shape.sound ? [shape.sound.channels, 2] : [undefined]],
    ["more streams", more.length, [0]],
    ["chapters", chapters.length, [0]],
  ]
  const wrong = facts.flatMap(([name, value, right]) =>
    right.includes(value) ? [] : [`${name}: ${String(value)}`],
  )
  const tags = [format.tags, ...streams.map((each) => each.tags)].flatMap((each) =>
    Object.entries(each),
  )
  const stale = tags.filter(
    ([name, value]) =>
      !OWN_TAGS.test(name) || (name === "handler_name" && !OWN_HANDLERS.test(value)),
  )
  return [...wrong, ...stale.map(([name, value]) => `tag ${name}: ${value}`)]
}

/** The sides follow from what is shown: even, in the box, not larger, and with the same shape. */
function wrongSize({ shown }: Shape, { size }: ExpectedRendition, { streams }: Probed): string[] {
  const video = streams.find(({ codec_type }) => codec_type === "video")
  const [width, height] = [Number(video?.["width"]), Number(video?.["height"])]
  const [long, short] = BOXES[size]
  const [boxWidth, boxHeight] = shown.height > shown.width ? [short, long] : [long, short]
  const scale = Math.min(1, boxWidth / shown.width, boxHeight / shown.height)
  function isRight(side: number, whole: number, box: number): boolean {
    const ideal = whole * scale
    return side % 2 === 0 && side <= box && side <= whole && Math.abs(side - ideal) < 2
  }
  const isExact = isRight(width, shown.width, boxWidth) && isRight(height, shown.height, boxHeight)
  return isExact ? [] : [`size: ${width}x${height}`]
}

function wrongTimes(shape: Shape, { streams, format }: Probed, times: number[]): string[] {
  const video = streams.find(({ codec_type }) => codec_type === "video")
  const [frames = 0, per = 1] = (video?.avg_frame_rate ?? "").split("/").map(Number)
  const frame = per / frames
  const first = times[0] ?? 0
  const uneven = times.filter((time, index) => Math.abs(time - first - index * frame) > 0.0021)
  const off = format.duration - shape.seconds
  const allowed = (shape.secondsOff ?? 0) + Math.max(SECONDS_OFF, frame * 1.01)
  return [
    ...(times.length === 1 || uneven.length === 0 ? [] : [`frames are not steady: ${uneven[0]}`]),
    ...(Math.abs(off) <= allowed ? [] : [`length: ${format.duration}`]),
    ...(shape.rate === undefined || shape.rate === video?.avg_frame_rate
      ? []
      : [`rate: ${video?.avg_frame_rate}`]),
    ...(format.start_time < -0.05 || format.start_time > 0.05
      ? [`start: ${format.start_time}`]
      : []),
  ]
}

function wrongKeyframes(keys: number[], times: number[]): string[] {
  const [first = 0] = times
  const frame = (times[1] ?? first + 1) - first
  const last = times.at(-1) ?? 0
  const count = Math.floor((last - first + frame / 2) / KEYFRAME_SECONDS) + 1
  // Where frames take longer than that, each is one.
  const expected =
    frame >= KEYFRAME_SECONDS
      ? times
      : Array.from({ length: count }, (_, index) => first + index * KEYFRAME_SECONDS)
  const isRight =
    keys.length === expected.length &&
    expected.every((time, index) => Math.abs(time - (keys[index] ?? -1)) <= frame / 2 + 0.002)
  return isRight ? [] : [`keyframes: ${keys.join(" ")}`]
}

function wrongContent(shape: Shape, decoded: Decoded, times: number[]): string[] {
  const { frames, samples, complaints, exitCode } = decoded
  const wrong = [
    ...(exitCode === 0 ? [] : [`decoding ended with ${exitCode}`]),
    ...(complaints === "" ? [] : [`decoding said ${complaints.trim().slice(0, 300)}`]),
    ...(frames.length === times.length ? [] : [`${frames.length} of ${times.length} frames`]),
  ]
  const flash = shape.flashes === false ? null : flashIndex(frames)
  const before = frames[Math.max(0, Math.min(flash ?? 0, frames.length) - 2)]
  if (before && shape.corners) {
    const off = cornersOff(before, shape.corners)
    if (off > (shape.colorOff ?? COLOR_OFF)) wrong.push(`corners are off by ${off.toFixed(0)}`)
  }
  const click = clickAt(samples)
  if (flash === null || click === null || shape.sound === null) return wrong
  const frame = (times[1] ?? 0) - (times[0] ?? 0)
  const off = click - (times[flash] ?? 0)
  const allowed = Math.max(SYNC_SECONDS, frame * SYNC_FRAMES)
  return Math.abs(off) <= allowed ? wrong : [...wrong, `sound is ${off.toFixed(3)} s late`]
}

function wrongRecord(
  { codec, output, bytes }: ExpectedRendition,
  { streams, format }: Probed,
): string[] {
  const video = streams.find(({ codec_type }) => codec_type === "video")
  const resolution = `${String(video?.["width"])}x${String(video?.["height"])}`
  const off = Math.abs((output.duration_seconds ?? 0) - format.duration)
  return [
    ...(output.codec === codec ? [] : [`its record says ${output.codec}`]),
    ...(output.resolution === resolution ? [] : [`its record says ${output.resolution}`]),
    ...(output.size_bytes === bytes ? [] : [`its record says ${output.size_bytes} bytes`]),
    ...(off < 0.01 ? [] : [`its record says ${output.duration_seconds} s`]),
  ]
}

/** Whether a player can begin before it has the end of the file. */
async function wrongOrder({ container, path }: ExpectedRendition): Promise<string[]> {
  const parts = container === "webm" ? await elementsOf(path) : await boxesOf(path)
  const [index, media] = container === "webm" ? ["cues", "cluster"] : ["moov", "mdat"]
  const at = parts.indexOf(index)
  return at !== -1 && at < parts.indexOf(media) ? [] : [`order: ${parts.slice(0, 6).join()}`]
}
