import { parseFfmpegTime } from "../../../src/ffmpeg/media-time.ts"
import type { ProgressDetail } from "../../../src/contract/report.ts"
import { computeCertainOutputSeconds, parseOutputLimits } from "./length/certain-duration.ts"

/**
 * Progress of one ffmpeg process: the finished fraction of the work and details. The fraction is
 * from 0 to 1, or null if unknown.
 */
export type FfmpegProgress = { fraction: number | null; detail: ProgressDetail }

/** Reader that computes the progress of one ffmpeg process from its output. */
export type FfmpegProgressReader = {
  /**
   * Reads a line that ffmpeg prints for `-progress`. Returns the progress if the line is the last
   * line of a progress report, else null.
   */
  readProgress(line: string): FfmpegProgress | null
  /** Reads a line of stderr, which may contain the duration of an input. */
  readStderr(line: string): void
}

const INPUTS_MAX = 64
/**
 * Maximum duration of an input that counts as a still picture, in seconds. The duration of such an
 * input is ignored in the estimate of the output's duration.
 */
const STILL_SECONDS_MAX = 0.05

/**
 * Creates the progress reader for an ffmpeg command. `known` contains the known durations of inputs
 * in seconds, by file name.
 */
export function createFfmpegProgressReader(
  argv: readonly string[],
  known: ReadonlyMap<string, number>,
): FfmpegProgressReader {
  const printed = openInputNotes()
  const bounds = parseOutputLimits(argv)
  const report = new Map<string, string>()
  let expected: number | null | undefined
  function estimate(): number | null {
    return computeCertainOutputSeconds(argv, (name, index) => {
      const seconds = known.get(name) ?? printed.secondsOf(index) ?? 0
      return seconds > STILL_SECONDS_MAX ? seconds : null
    })
  }
  function fractionOf({ frame, time_seconds: time, size_bytes: bytes }: ProgressDetail) {
    if (expected === undefined) expected = estimate()
    const shares = [
      ...(expected && time !== null ? [time / expected] : []),
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
    time_seconds:
      microseconds === null ? parseFfmpegTime(report.get("out_time")) : microseconds / 1e6,
    speed: Number.parseFloat(report.get("speed") ?? "") || null,
    size_bytes: countIn(report.get("total_size")),
  }
}

function countIn(text = ""): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

/**
 * Creates a collector of the input durations that ffmpeg prints. `read` reports whether a line
 * contained a duration.
 */
function openInputNotes() {
  const lengths = new Map<number, number | null>()
  let current: number | null = null
  return {
    read(line: string): boolean {
      const [, side, place] = /^(Input|Output) #(\d+), /.exec(line) ?? []
      if (side !== undefined) {
        const index = Number(place)
        // Accepts the line of each input only once, since ffmpeg prints it once. A second line of
        // the same form may come from metadata tags of the media.
        const isNew = side === "Input" && !lengths.has(index) && lengths.size < INPUTS_MAX
        current = isNew ? index : null
        if (isNew) lengths.set(index, null)
      }
      const seconds = parseFfmpegTime(/^ {2}Duration: ([\d:.]+)/.exec(line)?.[1])
      if (current === null || seconds === null || lengths.get(current) !== null) return false
      lengths.set(current, seconds)
      return true
    },
    secondsOf: (index: number): number | null => lengths.get(index) ?? null,
  }
}
