import type { Loudness } from "../../../src/contract/tasks/normalize.ts"
import type { MeteredLoudness } from "../../local/loudness-meter.ts"
import { formatTable } from "../../local/table.ts"

type BeforeAndAfter<Value> = { before: Value; after: Value }

/** What the record says of a file before and after, and what another meter measured. */
export function loudnessTable(
  { before, after }: BeforeAndAfter<Loudness>,
  metered: BeforeAndAfter<MeteredLoudness | null>,
): string {
  const rows = facts.map(([name, unit, key]) => [
    name,
    amount(before[key], unit),
    amount(after[key], unit),
  ])
  return formatTable([
    ["", "before", "after"],
    ...rows,
    [
      "by the demo's meter",
      amount(metered.before?.lufs ?? null, "LUFS"),
      amount(metered.after?.lufs ?? null, "LUFS"),
    ],
  ])
}

const facts: [string, string, keyof Loudness][] = [
  ["loudness", "LUFS", "integrated_lufs"],
  ["range", "LU", "range_lu"],
  ["true peak", "dBTP", "true_peak_dbtp"],
]

function amount(value: number | null, unit: string): string {
  return value === null ? "-" : `${value.toFixed(1)} ${unit}`
}
