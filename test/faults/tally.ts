import { formatTable } from "../../scripts/cli/table.ts"

/** The outcome of one cell of the matrix over all rounds. */
export type Row = {
  fault: string
  point: string
  times: number
  lost: number
  doubled: number
  left: number
  /** The longest time from the injection to the end of the last job. */
  recoveryMsMax: number
}

export type Tally = {
  rowOf(fault: string, point: string): Row
  rows(): Row[]
  /** Records a problem, in words, beside the numbers. */
  addProblem(text: string): void
  problems(): string[]
}

export function openTally(onProblem: (text: string) => void = () => undefined): Tally {
  const rows = new Map<string, Row>()
  const problems: string[] = []
  return {
    rowOf(fault, point) {
      const name = `${fault} ${point}`
      const row = rows.get(name) ?? makeRow(fault, point)
      rows.set(name, row)
      return row
    },
    rows: () => Array.from(rows.values()),
    addProblem(text) {
      problems.push(text)
      onProblem(text)
    },
    problems: () => problems,
  }
}

/** Number of everything that went wrong; the goal is 0. */
export function countWrong({ lost, doubled, left }: Row): number {
  return lost + doubled + left
}

/** All rows as one, named as a total. */
export function sumRows(rows: Row[]): Row {
  const sum = makeRow("all", `${rows.length} cells`)
  for (const row of rows) {
    sum.times += row.times
    sum.lost += row.lost
    sum.doubled += row.doubled
    sum.left += row.left
    sum.recoveryMsMax = Math.max(sum.recoveryMsMax, row.recoveryMsMax)
  }
  return sum
}

export function formatTally(tally: Tally): string {
  const head = ["fault", "point", "tried", "lost", "doubled", "left over", "longest to recover"]
  const rows = tally.rows()
  // Groups that run at once mix their rows.
  const byFault = [...Map.groupBy(rows, ({ fault }) => fault).values()].flat()
  return formatTable([head, ...[...byFault, sumRows(rows)].map(formatRow)])
}

function makeRow(fault: string, point: string): Row {
  return { fault, point, times: 0, lost: 0, doubled: 0, left: 0, recoveryMsMax: 0 }
}

function formatRow({ fault, point, times, lost, doubled, left, recoveryMsMax }: Row): string[] {
  const seconds = `${(recoveryMsMax / 1000).toFixed(1)} s`
  return [fault, point, ...[times, lost, doubled, left].map(String), seconds]
}
