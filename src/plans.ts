export const PLANS = ["trial", "paid"] as const
export type Plan = (typeof PLANS)[number]

/** What an account may use. */
export type Limits = {
  /** Of one file. */
  fileBytesMax: number
  /** Of all inputs of a job together, a file under several keys counted once. */
  inputBytesMax: number
  /** Of one key. */
  requestsPerMinute: number
  /** Tasks of one pool of runners at once. */
  runningJobsMax: number
  /** Longest run of a job's tools; RUN_SECONDS_MAX bounds every plan. */
  runSecondsMax: number
  /** Share of a pool's slots that it may hold while other accounts want some, from 0 to 1. */
  slotsShareMax: number
}

const GIB = 1024 ** 3

/** The one table of the plans' numbers; settings replace single ones. */
export const LIMITS: Record<Plan, Limits> = {
  trial: {
    fileBytesMax: 5 * GIB,
    inputBytesMax: 10 * GIB,
    requestsPerMinute: 20_000,
    runningJobsMax: 4,
    runSecondsMax: 300,
    slotsShareMax: 0.5,
  },
  paid: {
    fileBytesMax: 50 * GIB,
    inputBytesMax: 100 * GIB,
    requestsPerMinute: 60_000,
    runningJobsMax: 32,
    runSecondsMax: Infinity,
    slotsShareMax: 1,
  },
}
