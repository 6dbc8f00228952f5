import { LIMIT_FIELDS } from "../../plan-fields.ts"
import type { LimitName } from "../../plan-fields.ts"
import { formatBytes, formatCount, formatDuration } from "./format.ts"

/** An amount of what a limit counts, in its unit: `5 GB`, `5 min`, `20,000`. */
export function formatAmount(name: LimitName, amount: number): string {
  const { unit } = LIMIT_FIELDS[name]
  if (unit === "bytes") return formatBytes(amount)
  return unit === "seconds" ? formatDuration(amount) : formatCount(amount)
}

const TITLES: Record<LimitName, string> = {
  requests_per_minute: "Requests this minute",
  running_jobs: "Running jobs",
  waiting_jobs: "Waiting jobs",
  file_bytes: "Size of a file",
  input_bytes: "Size of a job's inputs",
  run_seconds: "Run time of a job",
  storage_bytes: "Storage",
  fetches_per_day: "Fetches today",
  link_seconds: "Life of a link",
}

/** What a limit is called on a page. */
export function titleOfLimit(name: LimitName): string {
  return TITLES[name]
}
