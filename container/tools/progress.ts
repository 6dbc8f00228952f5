import { parseTime } from "../../src/contract/media-time.ts"
import type { ProgressDetail } from "../../src/contract/report.ts"
import { outputBounds } from "./length/bounds.ts"
import { expectedSpan } from "./length/command.ts"
import type { InputFacts } from "./length/command.ts"
import { secondsOfParts } from "./length/concat-list.ts"
import type { Span } from "./length/span.ts"

/** How far one ffmpeg process is: a fraction from 0 to 1, null where it is not known, and figures. */
export type ToolProgress = { fraction: number | null; detail: ProgressDetail }

/** Reads the progress of one ffmpeg process from its output. */
export type ProgressReader = {
  /** Reads a line of `-progress`; returns how far it is at the last line of a report, else null. */
  readProgress(line: string): ToolProgress | null
  /** Reads a line of stderr, which describes the inputs. */
  readStderr(line: string): void
}

const INPUTS_MAX = 64
/** What is as short is a picture: it lasts for as long as what it is shown with. */
const STILL_SECONDS_MAX = 0.05

/** Opens a reader for a command; `known` are the lengths of inputs by name, in seconds. */
export function openProgressReader(
  argv: readonly string[],
  known: ReadonlyMap<string, number>,
): ProgressReader {
  const printed = openInputNotes()
  const bounds = outputBounds(argv)
  const report = new Map<string, string>()
  let expected: Span | null | undefined
  function estimate(): Span | null {
    return expectedSpan(argv, (name, index) => {
      const facts = printed.of(index)
      const own = known.get(name) ?? secondsOfParts(name, (part) => known.get(part) ?? null)
      const seconds = own ?? facts.seconds ?? 0
      return { seconds: seconds > STILL_SECONDS_MAX ? seconds : null, streams: facts.streams }
    })
  }
  function fractionOf({ frame, time_seconds: time, size_bytes: bytes }: ProgressDetail) {
    if (expected === undefined) expected = estimate()
    const shares = [
      ...(expected && time !== null ? [shareOf(time, expected)] : []),
      ...(bounds.frames !== null && frame !== null ? [frame / bounds.frames] : []),
      ...(bounds.bytes !== null && bytes !== null ? [bytes / bounds.bytes] : []),
    ]
    return shares.length === 0 ? null : Math.min(1, Math.max(...shares))
  }
  return {
    readProgress(line) {
      const [, name = "", value = ""] = /^(\w+)=\s*(.*?)\s*$/.exec(line) ?? []
      if (name !== "progress") {
        if (REPORTED.has(name)) report.set(name, value)
        return null
      }
      const detail = detailOf(report)
      report.clear()
      return { fraction: value === "end" ? 1 : fractionOf(detail), detail }
    },
    readStderr(line) {
      if (printed.read(line)) expected = undefined
    },
  }
}

const REPORTED = new Set(["frame", "out_time", "out_time_us", "speed", "total_size"])

function detailOf(report: ReadonlyMap<string, string>): ProgressDetail {
  const microseconds = countIn(report.get("out_time_us"))
  return {
    frame: countIn(report.get("frame")),
    time_seconds: microseconds === null ? parseTime(report.get("out_time")) : microseconds / 1e6,
    speed: Number.parseFloat(report.get("speed") ?? "") || null,
    size_bytes: countIn(report.get("total_size")),
  }
}

function countIn(text = ""): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

function shareOf(seconds: number, { start, end }: Span): number {
  return Math.max(0, (seconds - start) / (end - start))
}

/** Reads what ffmpeg prints of its inputs; `read` tells whether a line said something of one. */
function openInputNotes() {
  const inputs = new Map<number, InputFacts>()
  let current: InputFacts | null = null
  return {
    read(line: string): boolean {
      const [, side, place] = /^(Input|Output) #(\d+), /.exec(line) ?? []
      if (side !== undefined) {
        const index = Number(place)
        // ffmpeg prints each input once, and the outputs behind them; further lines are not its own.
        const isNew = side === "Input" && !inputs.has(index) && inputs.size < INPUTS_MAX
        current = isNew ? { seconds: null, streams: null } : null
        if (current) inputs.set(index, current)
      }
      if (!current) return false
      const seconds = parseTime(/^ {2}Duration: ([\d:.]+)/.exec(line)?.[1])
      if (seconds !== null) current.seconds ??= seconds
      const type = /^ {2}Stream #\d+:\d+[^ ]*: (Video|Audio): /.exec(line)?.[1]
      if (type !== undefined && !line.endsWith("(attached pic)")) {
        current.streams ??= { video: false, audio: false }
        current.streams[type === "Video" ? "video" : "audio"] = true
      }
      return seconds !== null || type !== undefined
    },
    of: (index: number): InputFacts => inputs.get(index) ?? { seconds: null, streams: null },
  }
}
