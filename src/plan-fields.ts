import type { Limits } from "./plans.ts"

/** What a limit counts, and what it means in a sentence. */
export type LimitField = {
  /** Its internal name. */
  limit: Exclude<keyof Limits, "slotsShareMax">
  unit: "requests" | "jobs" | "bytes" | "seconds" | "fetches"
  meaning: string
}

/** The limits of a plan by their public names, in the order in which they are shown. */
export const LIMIT_FIELDS = {
  requests_per_minute: {
    limit: "requestsPerMinute",
    unit: "requests",
    meaning: "Requests of one key, or of one user of the dashboard, in a minute.",
  },
  running_jobs: {
    limit: "runningJobsMax",
    unit: "jobs",
    meaning: "Tasks of jobs at once in each pool of runners; more of them wait.",
  },
  waiting_jobs: {
    limit: "waitingJobsMax",
    unit: "jobs",
    meaning: "Jobs that have not begun; more of them are refused.",
  },
  file_bytes: {
    limit: "fileBytesMax",
    unit: "bytes",
    meaning: "Bytes of one file that is uploaded or brought in.",
  },
  input_bytes: {
    limit: "inputBytesMax",
    unit: "bytes",
    meaning: "Bytes of all inputs of one job together.",
  },
  run_seconds: {
    limit: "runSecondsMax",
    unit: "seconds",
    meaning: "How long the tools of one job may run.",
  },
  storage_bytes: {
    limit: "storageBytesMax",
    unit: "bytes",
    meaning: "Bytes of all that is stored; from there on new jobs and files are refused.",
  },
  fetches_per_day: {
    limit: "fetchesPerDay",
    unit: "fetches",
    meaning: "Media that jobs bring in from URLs on one day, UTC; more of them are refused.",
  },
  link_seconds: {
    limit: "linkSecondsMax",
    unit: "seconds",
    meaning: "How long a download link may be asked to last, by expires_in.",
  },
} as const satisfies Record<string, LimitField>

/** The public name of a limit. */
export type LimitName = keyof typeof LIMIT_FIELDS

/** Makes a record of all limits by their public names. */
export function mapLimits<Value>(
  valueOf: (field: LimitField, name: LimitName) => Value,
): Record<LimitName, Value> {
  return {
    requests_per_minute: valueOf(LIMIT_FIELDS.requests_per_minute, "requests_per_minute"),
    running_jobs: valueOf(LIMIT_FIELDS.running_jobs, "running_jobs"),
    waiting_jobs: valueOf(LIMIT_FIELDS.waiting_jobs, "waiting_jobs"),
    file_bytes: valueOf(LIMIT_FIELDS.file_bytes, "file_bytes"),
    input_bytes: valueOf(LIMIT_FIELDS.input_bytes, "input_bytes"),
    run_seconds: valueOf(LIMIT_FIELDS.run_seconds, "run_seconds"),
    storage_bytes: valueOf(LIMIT_FIELDS.storage_bytes, "storage_bytes"),
    fetches_per_day: valueOf(LIMIT_FIELDS.fetches_per_day, "fetches_per_day"),
    link_seconds: valueOf(LIMIT_FIELDS.link_seconds, "link_seconds"),
  }
}

/** The limits of a plan as they are shown. */
export function viewLimits(limits: Limits): Record<LimitName, number> {
  return mapLimits(({ limit }) => limits[limit])
}
