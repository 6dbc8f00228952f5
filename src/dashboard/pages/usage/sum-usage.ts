import type { UsageRecord } from "../../../resources/account/record.ts"
import { dayOf } from "../../../storage/account-limits.ts"

/** What is added up of a day, or of a key. */
export type Sums = Pick<
  UsageRecord,
  "requests" | "jobs" | "fetches" | "succeeded_jobs" | "failed_jobs" | "processing_seconds"
>

export type DaySums = Sums & { day: string }
export type KeySums = Sums & { title: string }

const DAY_MS = 86_400_000

/** Each of the last days, the oldest first, with what all keys used; days without use are zeros. */
export function sumByDay(rows: readonly UsageRecord[], days: number, nowMs: number): DaySums[] {
  const rowsByDay = Map.groupBy(rows, ({ day }) => day)
  return Array.from({ length: days }, (_, at) => {
    const day = dayOf(nowMs - (days - 1 - at) * DAY_MS)
    return { day, ...add(rowsByDay.get(day) ?? []) }
  })
}

/** What each key used, the busiest first. */
export function sumByKey(rows: readonly UsageRecord[]): KeySums[] {
  const rowsByKey = Map.groupBy(rows, ({ key_id: id }) => id)
  return [...rowsByKey.values()]
    .map((some) => ({ title: titleOf(some[0]), ...add(some) }))
    .toSorted((one, other) => other.requests - one.requests || other.jobs - one.jobs)
}

/** What a day, or all of them, came to. */
export function add(rows: readonly Sums[]): Sums {
  return {
    requests: sum(rows, "requests"),
    jobs: sum(rows, "jobs"),
    fetches: sum(rows, "fetches"),
    succeeded_jobs: sum(rows, "succeeded_jobs"),
    failed_jobs: sum(rows, "failed_jobs"),
    processing_seconds: sum(rows, "processing_seconds"),
  }
}

function sum(rows: readonly Sums[], name: keyof Sums): number {
  return rows.reduce((total, row) => total + row[name], 0)
}

function titleOf(row: UsageRecord | undefined): string {
  if (!row || row.key_id === null) return "Dashboard"
  return row.key_name || `Key ${row.key_id.slice(0, 8)}…`
}
