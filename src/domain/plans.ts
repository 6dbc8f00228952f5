/** Plans that every deployment has; operators may add others. */
export const BUILT_IN_PLANS = ["trial", "paid"] as const
export type BuiltInPlan = (typeof BUILT_IN_PLANS)[number]

/** Plan of an account without an assigned plan. */
export const DEFAULT_PLAN: BuiltInPlan = "trial"

export function isBuiltInPlan(name: string): name is BuiltInPlan {
  return BUILT_IN_PLANS.some((plan) => plan === name)
}

/** Limits of an account. */
export type Limits = {
  /** Maximum size of one file, in bytes. */
  fileBytesMax: number
  /** Maximum size of all inputs of a job, in bytes; a file under several keys counts once. */
  inputBytesMax: number
  /** Maximum number of requests of one key in a minute. */
  requestsPerMinute: number
  /** Maximum number of concurrent tasks in one pool of runners; further tasks wait. */
  runningJobsMax: number
  /** Maximum number of jobs that have not begun; further jobs are refused. */
  waitingJobsMax: number
  /** Longest run of a task's tools, in seconds; the setting RUN_SECONDS_MAX bounds every plan. */
  runSecondsMax: number
  /** Maximum size of everything that the account stores, in bytes. */
  storageBytesMax: number
  /** Maximum number of media that the account's jobs download from URLs on one day (UTC). */
  fetchesPerDay: number
  /** Longest lifetime of a download link that a caller may request, in seconds. */
  linkSecondsMax: number
  /** Maximum share of a pool's slots, from 0 to 1, while other accounts wait for slots. */
  slotsShareMax: number
}

/** Limits of a plan that the operator defines; the setting RUN_SECONDS_MAX still applies. */
export type OperatorPlanLimits = Limits

/** Plan of an account; `ownLimits` is null for a built-in plan. */
export type AssignedPlan = { plan: string; ownLimits: OperatorPlanLimits | null }

const GIB = 1024 ** 3

/** Default limits of the built-in plans; settings of the deployment override single limits. */
export const PLAN_LIMITS: Record<BuiltInPlan, Limits> = {
  trial: {
    fileBytesMax: 5 * GIB,
    inputBytesMax: 10 * GIB,
    requestsPerMinute: 20_000,
    runningJobsMax: 4,
    waitingJobsMax: 5000,
    runSecondsMax: 300,
    storageBytesMax: 100 * GIB,
    fetchesPerDay: 1000,
    linkSecondsMax: 24 * 3600,
    slotsShareMax: 0.5,
  },
  paid: {
    fileBytesMax: 50 * GIB,
    inputBytesMax: 100 * GIB,
    requestsPerMinute: 60_000,
    runningJobsMax: 32,
    waitingJobsMax: 50_000,
    runSecondsMax: Infinity,
    storageBytesMax: 10_240 * GIB,
    fetchesPerDay: 100_000,
    linkSecondsMax: 7 * 24 * 3600,
    slotsShareMax: 1,
  },
}
