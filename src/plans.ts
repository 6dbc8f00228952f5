export const PLANS = ["trial", "paid"] as const
export type Plan = (typeof PLANS)[number]

/** What an account may use: bytes of one file and of all inputs of a job, requests of one key, jobs running at once. */
export type Limits = {
  fileBytesMax: number
  inputBytesMax: number
  requestsPerMinute: number
  runningJobsMax: number
}

const GIB = 1024 ** 3

/** The one table of the plans' numbers; settings replace single ones. */
export const LIMITS: Record<Plan, Limits> = {
  trial: {
    fileBytesMax: 5 * GIB,
    inputBytesMax: 10 * GIB,
    requestsPerMinute: 20_000,
    runningJobsMax: 4,
  },
  paid: {
    fileBytesMax: 50 * GIB,
    inputBytesMax: 100 * GIB,
    requestsPerMinute: 60_000,
    runningJobsMax: 32,
  },
}
