import { openPlainFile, pathIn } from "../../sandbox/workspace.ts"

/** The loudness of a stream as the meter has it; null where nothing was to be measured. */
export type Measured = {
  integratedLufs: number | null
  rangeLu: number | null
  truePeakDbtp: number | null
  /** Whether it ended within the first block that counts, of 400 ms. */
  isTooShort: boolean
}

type Summary = Partial<Record<"I" | "LRA" | "Peak", number>>

/** What is not louder than this does not count, by EBU R 128. */
const GATE_LUFS = -70
/** The meter's steps are of 100 ms. */
const STEPS_OF_BLOCK = 4
/** Room for the figures of a step, of which there are some for each channel. */
const TAIL_BYTES = 16 * 1024
/** The summary has one decimal; figures that differ from it by more are of something else. */
const AGREEMENT_DB = 0.1

/** At low rates the meter's own filters are not those of the standard. */
const RATE_MIN = 16_000
const METER_RATE = 48_000

/**
 * The filters that measure a stream and write exact figures to a file of the workspace; `at` is the
 * number of the stream among those that are measured, `rate` that of its samples.
 */
export function meterFilters(at: number, rate: number): string {
  const resampler = isTransparent(rate) ? "" : `aformat=sample_rates=${METER_RATE},`
  return `${resampler}ebur128@stream${at}=peak=true:framelog=verbose:metadata=1,ametadata=print:file=${figuresName(at)}`
}

/** Whether sound of a rate goes through the meter as it is. */
export function isTransparent(rate: number): boolean {
  return rate >= RATE_MIN
}

/** Opens a reader of what meters say at their end, in the lines of one ffmpeg process. */
export function openMeterReader() {
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
    /** What the meters of `count` streams found; null for a stream of which there was no sound. */
    async end(workspace: string, count: number): Promise<Measured[]> {
      return await Promise.all(
        Array.from({ length: count }, async (_, at) => {
          const figures = await readTail(workspace, figuresName(at))
          return readMeasured(summaries.get(at) ?? {}, figures)
        }),
      )
    },
  }
}

/** Combines a meter's summary, of one decimal, and the figures of its last step, which are exact. */
export function readMeasured(summary: Summary, figures: string): Measured {
  const steps = Number(lastOf(figures, /^frame:(\d+)/gm) ?? -1) + 1
  const exact = lastOf(figures, /^lavfi\.r128\.I=(-?[\d.]+)$/gm)
  const integrated = agreed(exact, summary.I ?? -Infinity)
  const range = agreed(lastOf(figures, /^lavfi\.r128\.LRA=([\d.]+)$/gm), summary.LRA ?? 0)
  const amplitude = lastOf(figures, /^lavfi\.r128\.true_peak=([\d.]+)$/gm)
  const peak = agreed(amplitude && 20 * Math.log10(amplitude), summary.Peak ?? -Infinity)
  const isSilent = integrated <= GATE_LUFS
  return {
    integratedLufs: isSilent ? null : integrated,
    rangeLu: isSilent ? null : range,
    truePeakDbtp: Number.isFinite(peak) ? peak : null,
    isTooShort: steps < STEPS_OF_BLOCK,
  }
}

/** The exact figure, where it is one of the same as the summary, which also has the last moment. */
function agreed(exact: number | null, summed: number): number {
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

/** The last bytes of a file of the workspace; none where it was not written. */
async function readTail(workspace: string, name: string): Promise<string> {
  const handle = await openPlainFile(pathIn(workspace, name)).catch(() => null)
  if (!handle) return ""
  await using file = handle
  const { size } = await file.stat()
  const position = Math.max(0, size - TAIL_BYTES)
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(TAIL_BYTES), position })
  return buffer.toString("latin1", 0, bytesRead)
}
