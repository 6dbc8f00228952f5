import { formatTable } from "../cli/table.ts"

/**
 * Result of one measurement, a row of a benchmark's table: the measured value, and the reference
 * value of the same run.
 */
export type BenchResult = {
  name: string
  measured: string
  reference: string
  /** Ratio or difference of the measured value and the reference value, as text. */
  comparison: string
  goal: string
  /** Whether the measured value reaches the goal; null without a goal. */
  isMet: boolean | null
}

const HEADINGS = ["FIGURE", "MEASURED", "REFERENCE", "RATIO OR DIFFERENCE", "GOAL", "MET"]

/** Formats benchmark results as a table with headings. */
export function formatBenchResults(figures: BenchResult[]): string {
  const rows = figures.map(({ name, measured, reference, comparison, goal, isMet }) => [
    name,
    measured,
    reference,
    comparison,
    goal,
    isMet === null ? "" : (isMet && "yes") || "NO",
  ])
  return formatTable([HEADINGS, ...rows])
}

export function formatMs(ms: number): string {
  return `${ms.toFixed(1)} ms`
}

export function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

export function formatMib(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(0)} MiB`
}

/** Formats a difference with its sign. `format` formats the absolute value of the difference. */
export function formatDifference(value: number, format: (size: number) => string): string {
  return `${value < 0 ? "-" : "+"}${format(Math.abs(value))}`
}

/** Formats a ratio, for example as `1.02 x`. */
export function formatRatio(ratio: number): string {
  return `${ratio.toFixed(2)} x`
}
