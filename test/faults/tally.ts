import { formatTable } from "../../scripts/local/table.ts"

/** What became of one cell of the matrix over all its tries. */
export type Row = {
  fault: string
  step: string
  times: number
  lost: number
  doubled: number
  left: number
  /** The longest time from the strike to the end of the last job. */
  recoveryMsMax: number
}

export type Tally = {
  rowOf(fault: string, step: string): Row
  rows(): Row[]
  /** Notes what is wrong, in words, beside the numbers. */
  complain(text: string): void
  complaints(): string[]
}

export function openTally(onComplaint: (text: string) => void = () => undefined): Tally {
  const rows = new Map<string, Row>()
  const complaints: string[] = []
  return {
    rowOf(fault, step) {
      const name = `${fault} ${step}`
      const row = rows.get(name) ?? makeRow(fault, step)
      rows.set(name, row)
      return row
    },
    rows: () => Array.from(rows.values()),
    complain(text) {
      complaints.push(text)
      onComplaint(text)
    },
    complaints: () => complaints,
  }
}

/** Everything that went wrong; 0 is what is wanted. */
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
  const head = ["fault", "step", "tried", "lost", "doubled", "left over", "longest to recover"]
  const rows = tally.rows()
  // Groups that run at once mix their rows.
  const byFault = [...Map.groupBy(rows, ({ fault }) => fault).values()].flat()
  return formatTable([head, ...[...byFault, sumRows(rows)].map(formatRow)])
}

function makeRow(fault: string, step: string): Row {
  return { fault, step, times: 0, lost: 0, doubled: 0, left: 0, recoveryMsMax: 0 }
}

function formatRow({ fault, step, times, lost, doubled, left, recoveryMsMax }: Row): string[] {
  const seconds = `${(recoveryMsMax / 1000).toFixed(1)} s`
  return [fault, step, ...[times, lost, doubled, left].map(String), seconds]
}
