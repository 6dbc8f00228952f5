import { parseTime } from "../../src/contract/media-time.ts"
import { openDamageNotes } from "./damage.ts"
import type { DamageNotes } from "./damage.ts"

/** An input as ffmpeg describes it: the format it was taken for, and how long it should last. */
export type NotedInput = {
  format: string
  seconds: number | null
  /** Where its times begin; some formats count `seconds` from 0 all the same. */
  startSeconds: number
  /** Whether `seconds` is a guess from a bit rate. */
  isEstimate: boolean
}

/** An output as ffmpeg describes it: its muxer, and how many streams it is to have. */
export type NotedOutput = {
  index: number
  muxer: string
  video: number
  audio: number
  others: number
}

/** How many KiB of pictures and of sound were written, as ffmpeg sums up, rounded. */
export type WrittenSizes = { video: number; audio: number }

/** What a run of ffmpeg said of its inputs and outputs; a low -loglevel keeps it from saying that. */
export type RunNotes = DamageNotes & {
  inputs: ReadonlyMap<string, NotedInput>
  outputs: ReadonlyMap<string, NotedOutput>
  /** By the index of an output; ffmpeg 5 sums up all of them together, which then holds for each. */
  written: (index: number) => WrittenSizes | null
  /** Whether its last progress says that frames or time were written; whatever the -loglevel is. */
  hasWritten: boolean
  /** How much of the media was written, in seconds, as its last progress says. */
  writtenSeconds: number
}

const FILES_MAX = 64

const SUMMARY = /^(?:\[out#(\d+)\/[^\]]{1,80}\] )?video:\s{0,9}(\d+)(?:kB|KiB) audio:\s{0,9}(\d+)/

/** Opens a reader that takes notes of the lines of one ffmpeg process. */
export function openRunNotes() {
  const inputs = new Map<string, NotedInput>()
  const outputs = new Map<string, NotedOutput>()
  const damage = openDamageNotes()
  const sizes = new Map<number | null, WrittenSizes>()
  const done = { frames: 0, time: 0 }
  let input: NotedInput | null = null
  let output: NotedOutput | null = null
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
    input.seconds = parseTime(duration)
    input.startSeconds = Math.max(0, Number(start))
  }
  function sizesOf(index: number): WrittenSizes | null {
    return sizes.get(index) ?? sizes.get(null) ?? null
  }
  return {
    readStderr(line: string): void {
      if (readFile(line)) return
      // ffmpeg says so of an input before it describes it.
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
    end(): RunNotes {
      const hasWritten = done.frames > 0 || done.time > 0
      const writtenSeconds = done.time / 1e6
      return { inputs, outputs, ...damage.end(), written: sizesOf, hasWritten, writtenSeconds }
    },
  }
}

/** Counts a stream; a cover is neither the picture nor the sound of a film. */
function countStream(output: NotedOutput, type: string, line: string): void {
  if (type === "Video" && !line.endsWith("(attached pic)")) output.video += 1
  else if (type === "Audio") output.audio += 1
  else output.others += 1
}
