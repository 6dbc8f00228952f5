import { formatTable } from "../local/table.ts"

/** One row of the table: a measurement and a reference of the same run. */
export type Figure = {
  name: string
  measured: string
  reference: string
  /** Ratio or difference of the two. */
  comparison: string
  goal: string
  /** Null where there is no goal. */
  isMet: boolean | null
}

const HEADINGS = ["FIGURE", "MEASURED", "REFERENCE", "RATIO OR DIFFERENCE", "GOAL", "MET"]

/** The figures as a table with a heading. */
export function formatFigures(figures: Figure[]): string {
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

/** A difference with its sign; `format` writes its absolute value. */
export function formatDifference(value: number, format: (size: number) => string): string {
  return `${value < 0 ? "-" : "+"}${format(Math.abs(value))}`
}

/** A ratio as `1.02 x`. */
export function formatRatio(ratio: number): string {
  return `${ratio.toFixed(2)} x`
}
