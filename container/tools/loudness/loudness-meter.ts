import { openToolWrittenFile, buildWorkspacePath } from "../../sandbox/workspace.ts"

/** Measured loudness of an audio stream. Values are null for a silent or too short stream. */
export type StreamLoudness = {
  integratedLufs: number | null
  rangeLu: number | null
  truePeakDbtp: number | null
  /** Whether the stream is shorter than 400 ms, the length of a measured block. */
  isTooShort: boolean
}

type Summary = Partial<Record<"I" | "LRA" | "Peak", number>>

/** Absolute gate of EBU R 128, in LUFS. Quieter blocks do not count toward the loudness. */
const GATE_LUFS = -70
/** Number of measurement steps in a block of the loudness meter. A step lasts 100 ms. */
const STEPS_OF_BLOCK = 4
/**
 * Number of bytes at the end of a meter's output file that always contain the values of the last
 * measurement step.
 */
const TAIL_BYTES = 16 * 1024
/**
 * Largest difference between an exact value and the rounded value in the summary at the end. A
 * larger difference means that the exact value does not include the last moment of the audio.
 */
const AGREEMENT_DB = 0.1

/** Lowest sample rate, in Hz, at which the filters of the loudness meter conform to EBU R 128. */
const RATE_MIN = 16_000
const METER_RATE = 48_000

/**
 * Returns filters that measure the loudness of an audio stream and write exact values to a file of
 * the workspace. `at` is the index of the stream among the measured streams, `rate` its sample
 * rate.
 */
export function loudnessMeterFilters(at: number, rate: number): string {
  const resampler = canMeasureWithoutResampling(rate) ? "" : `aformat=sample_rates=${METER_RATE},`
  return `${resampler}ebur128@stream${at}=peak=true:framelog=verbose:metadata=1,ametadata=print:file=${figuresName(at)}`
}

/** Reports whether the loudness meter measures audio of this sample rate without resampling. */
export function canMeasureWithoutResampling(rate: number): boolean {
  return rate >= RATE_MIN
}

/**
 * Creates a reader for the stderr lines of one ffmpeg process. The reader collects the summaries
 * that loudness meters print at the end.
 */
export function createLoudnessReader() {
  const summaries = new Map<number, Summary>()
  let current: Summary | null = null
  return {
    readStderr(this: void, line: string): void {
      const at = /^\[(?:ebur128@)?stream(\d+) @ [^\]]+\] Summary:/.exec(line)?.[1]
      if (at !== undefined) summaries.set(Number(at), (current = {}))
      else if (line.startsWith("[")) current = null
      const [, name, value] = /^ +(I|LRA|Peak): +(-?[\d.]+|-?inf) [A-Z]/i.exec(line) ?? []
      if (current && (name === "I" || name === "LRA" || name === "Peak")) {
        current[name] = value === "-inf" ? -Infinity : Number(value)
      }
    },
    /** Returns the measured loudness of each stream. `count` is the number of measured streams. */
    async end(workspace: string, count: number): Promise<StreamLoudness[]> {
      return await Promise.all(
        Array.from({ length: count }, async (_, at) => {
          const figures = await readTail(workspace, figuresName(at))
          return combineMeterReadings(summaries.get(at) ?? {}, figures)
        }),
      )
    },
  }
}

/**
 * Combines the summary of a loudness meter, whose values have one decimal place, with the exact
 * values of the meter's last step.
 */
export function combineMeterReadings(summary: Summary, figures: string): StreamLoudness {
  const steps = Number(lastOf(figures, /^frame:(\d+)/gm) ?? -1) + 1
  const exact = lastOf(figures, /^lavfi\.r128\.I=(-?[\d.]+)$/gm)
  const integrated = exactIfAgreeing(exact, summary.I ?? -Infinity)
  const range = exactIfAgreeing(lastOf(figures, /^lavfi\.r128\.LRA=([\d.]+)$/gm), summary.LRA ?? 0)
  const amplitude = lastOf(figures, /^lavfi\.r128\.true_peak=([\d.]+)$/gm)
  const peak = exactIfAgreeing(amplitude && 20 * Math.log10(amplitude), summary.Peak ?? -Infinity)
  const isSilent = integrated <= GATE_LUFS
  return {
    integratedLufs: isSilent ? null : integrated,
    rangeLu: isSilent ? null : range,
    truePeakDbtp: Number.isFinite(peak) ? peak : null,
    isTooShort: steps < STEPS_OF_BLOCK,
  }
}

/**
 * Returns the exact value of the last step if the value agrees with the summary. Otherwise returns
 * the value of the summary, since only the summary includes the last moment of the audio.
 */
function exactIfAgreeing(exact: number | null, summed: number): number {
  const isSame = exact !== null && Math.abs(exact - summed) <= AGREEMENT_DB
  return Math.round((isSame ? exact : summed) * 1000) / 1000
}

function lastOf(text: string, pattern: RegExp): number | null {
  const last = [...text.matchAll(pattern)].at(-1)?.[1]
  return last === undefined ? null : Number(last)
}

function figuresName(at: number): string {
  return `loudness-${at}.txt`
}

/** Returns the last bytes of a file of the workspace as text; empty if there is no such file. */
async function readTail(workspace: string, name: string): Promise<string> {
  const handle = await openToolWrittenFile(buildWorkspacePath(workspace, name)).catch(() => null)
  if (!handle) return ""
  await using file = handle
  const { size } = await file.stat()
  const position = Math.max(0, size - TAIL_BYTES)
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(TAIL_BYTES), position })
  return buffer.toString("latin1", 0, bytesRead)
}
