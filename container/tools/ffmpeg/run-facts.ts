import { parseFfmpegTime } from "../../../src/ffmpeg/media-time.ts"
import { createInputDamageReader } from "./input-damage.ts"
import type { InputDamage } from "./input-damage.ts"

/**
 * Input of an ffmpeg run, as described in ffmpeg's output: the detected format, and the expected
 * duration in seconds.
 */
export type FfmpegInputDetails = {
  format: string
  seconds: number | null
  /**
   * Timestamp at the start of the input, in seconds. In some formats, `seconds` includes the time
   * from 0 to this start.
   */
  startSeconds: number
  /** Whether `seconds` is an estimate that ffmpeg derived from the bitrate. */
  isEstimate: boolean
}

/**
 * Output of an ffmpeg run, as described in ffmpeg's output: the muxer, and the number of streams of
 * each type.
 */
export type FfmpegOutputDetails = {
  index: number
  muxer: string
  video: number
  audio: number
  others: number
}

/**
 * Sizes of the video and audio that ffmpeg has written, in KiB, according to the line "video:…
 * audio:…" that ffmpeg prints at its end.
 */
export type WrittenStreamSizes = { video: number; audio: number }

/**
 * Facts about the inputs and outputs of an ffmpeg run, parsed from ffmpeg's messages. With a low
 * `-loglevel`, ffmpeg does not print most of these facts.
 */
export type FfmpegRunDetails = InputDamage & {
  inputs: ReadonlyMap<string, FfmpegInputDetails>
  outputs: ReadonlyMap<string, FfmpegOutputDetails>
  /**
   * Returns the sizes of the video and audio in the output with this index. ffmpeg 5 prints only
   * their sums over all outputs, which are then returned for each output.
   */
  written: (index: number) => WrittenStreamSizes | null
  /**
   * Whether ffmpeg has written frames or media time, according to the last progress report.
   * Progress reports do not depend on `-loglevel`.
   */
  hasWritten: boolean
  /** Duration of the written media according to the last progress report, in seconds. */
  writtenSeconds: number
}

const FILES_MAX = 64

const SUMMARY = /^(?:\[out#(\d+)\/[^\]]{1,80}\] )?video:\s{0,9}(\d+)(?:kB|KiB) audio:\s{0,9}(\d+)/

/** Creates a reader that collects facts from the output lines of one ffmpeg process. */
export function createFfmpegRunDetailsReader() {
  const inputs = new Map<string, FfmpegInputDetails>()
  const outputs = new Map<string, FfmpegOutputDetails>()
  const damage = createInputDamageReader()
  const sizes = new Map<number | null, WrittenStreamSizes>()
  const done = { frames: 0, time: 0 }
  let input: FfmpegInputDetails | null = null
  let output: FfmpegOutputDetails | null = null
  let isEstimate = false
  function readFile(line: string): boolean {
    const [, side, index, format = "", name = ""] =
      /^(Input|Output) #(\d+), ([^']{1,200}), (?:from|to) '([^']{0,1000})':$/.exec(line) ?? []
    if (side === undefined || inputs.size + outputs.size >= FILES_MAX) return false
    input = side === "Input" ? { format, seconds: null, startSeconds: 0, isEstimate } : null
    isEstimate = false
    const counts = { video: 0, audio: 0, others: 0 }
    output = side === "Output" ? { index: Number(index), muxer: format, ...counts } : null
    if (input) inputs.set(name, input)
    if (output) outputs.set(name, output)
    return true
  }
  function readLength(line: string): void {
    const [, duration, start = "0"] =
      /^ {2}Duration: ([\d:.]+)(?:, start: (-?[\d.]+))?/.exec(line) ?? []
    if (!input || duration === undefined) return
    input.seconds = parseFfmpegTime(duration)
    input.startSeconds = Math.max(0, Number(start))
  }
  function sizesOf(index: number): WrittenStreamSizes | null {
    return sizes.get(index) ?? sizes.get(null) ?? null
  }
  return {
    readStderr(line: string): void {
      if (readFile(line)) return
      // Keeps this fact for the next input: ffmpeg prints the line about an estimated duration
      // before it describes the input.
      if (line.includes("Estimating duration from bitrate")) isEstimate = true
      readLength(line)
      const type = /^ {2}Stream #\d+:\d+[^ ]*: (\w+): /.exec(line)?.[1]
      if (output && type !== undefined) countStream(output, type, line)
      const [, at, video, audio] = SUMMARY.exec(line) ?? []
      if (video !== undefined && sizes.size < FILES_MAX) {
        const written = { video: Number(video), audio: Number(audio) }
        sizes.set(at === undefined ? null : Number(at), written)
      }
      damage.readStderr(line)
    },
    readProgress(line: string): void {
      const [, name, value = ""] = /^(frame|out_time_us)=(.*)$/.exec(line) ?? []
      if (name === "frame") done.frames = Number(value) || 0
      if (name === "out_time_us") done.time = Number(value) || 0
    },
    end(): FfmpegRunDetails {
      const hasWritten = done.frames > 0 || done.time > 0
      const writtenSeconds = done.time / 1e6
      return { inputs, outputs, ...damage.end(), written: sizesOf, hasWritten, writtenSeconds }
    },
  }
}

/** Counts a stream of an output by its type. A cover picture counts as neither video nor audio. */
function countStream(output: FfmpegOutputDetails, type: string, line: string): void {
  if (type === "Video" && !line.endsWith("(attached pic)")) output.video += 1
  else if (type === "Audio") output.audio += 1
  else output.others += 1
}
