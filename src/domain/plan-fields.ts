import type { PlanLimits } from "./plans.ts"

/** Limit of a plan as the API and the pages show it: its property, unit and description. */
export type LimitField = {
  /** Name of the limit's property in `PlanLimits`. */
  limit: Exclude<keyof PlanLimits, "slotsShareMax">
  unit: "requests" | "jobs" | "bytes" | "seconds" | "fetches"
  meaning: string
}

/** Limits of a plan by their names in the API, in display order. */
export const LIMIT_FIELDS = {
  requests_per_minute: {
    limit: "requestsPerMinute",
    unit: "requests",
    meaning: "Requests of one key, or of one dashboard user, in a minute.",
  },
  running_jobs: {
    limit: "runningJobsMax",
    unit: "jobs",
    meaning: "Tasks that run at the same time in each pool of runners. Further tasks wait.",
  },
  waiting_jobs: {
    limit: "waitingJobsMax",
    unit: "jobs",
    meaning: "Jobs that wait for their start. The service refuses further jobs.",
  },
  file_bytes: {
    limit: "fileBytesMax",
    unit: "bytes",
    meaning: "Size of one uploaded or imported file.",
  },
  input_bytes: {
    limit: "inputBytesMax",
    unit: "bytes",
    meaning: "Total size of the inputs of one job.",
  },
  run_seconds: {
    limit: "runSecondsMax",
    unit: "seconds",
    meaning: "Maximum run time of the tools of one task.",
  },
  storage_bytes: {
    limit: "storageBytesMax",
    unit: "bytes",
    meaning: "Storage of the account. At the limit the service refuses new jobs and files.",
  },
  fetches_per_day: {
    limit: "fetchesPerDay",
    unit: "fetches",
    meaning:
      "Media that jobs download from URLs in one day (UTC). The service refuses further downloads.",
  },
  link_seconds: {
    limit: "linkSecondsMax",
    unit: "seconds",
    meaning: "Maximum lifetime of a download link, which `expires_in` sets.",
  },
} as const satisfies Record<string, LimitField>

/** Name of a limit in the API. */
export type LimitName = keyof typeof LIMIT_FIELDS

/**
 * Builds an object with a property for each limit, named as in the API. `valueOf` returns the value
 * of a property.
 */
export function buildLimitRecord<Value>(
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

/** Returns the limits of a plan by their names in the API. */
export function toPublicLimits(limits: PlanLimits): Record<LimitName, number> {
  return buildLimitRecord(({ limit }) => limits[limit])
}
