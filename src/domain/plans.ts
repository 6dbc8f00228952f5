/** Names of the plans that every deployment has. The operator may add other plans. */
export const BUILT_IN_PLANS = ["trial", "paid"] as const
export type BuiltInPlan = (typeof BUILT_IN_PLANS)[number]

/** Plan of an account to which no plan was assigned. */
export const DEFAULT_PLAN: BuiltInPlan = "trial"

export function isBuiltInPlan(name: string): name is BuiltInPlan {
  return BUILT_IN_PLANS.some((plan) => plan === name)
}

/** Limits of an account, which its plan sets. */
export type PlanLimits = {
  /** Maximum size of one file, in bytes. */
  fileBytesMax: number
  /**
   * Maximum size of all inputs of a job together, in bytes. A file that the request names under
   * several input keys counts once.
   */
  inputBytesMax: number
  /** Maximum number of requests with one API key in a minute. */
  requestsPerMinute: number
  /** Maximum number of concurrent tasks in one pool of runners. Further tasks wait. */
  runningJobsMax: number
  /** Maximum number of jobs that have not begun. The service refuses further jobs. */
  waitingJobsMax: number
  /**
   * Maximum duration of a run of a task's tools, in seconds. The setting RUN_SECONDS_MAX is an
   * upper bound for every plan.
   */
  runSecondsMax: number
  /** Maximum size of all files that the account stores, in bytes. */
  storageBytesMax: number
  /** Maximum number of media files that the account's jobs download from URLs on one UTC day. */
  fetchesPerDay: number
  /** Maximum lifetime of a download link in seconds, which a caller may request. */
  linkSecondsMax: number
  /** Maximum share of a pool's slots, from 0 to 1, while other accounts wait for slots. */
  slotsShareMax: number
}

/**
 * Limits of a plan that the operator created. For these plans too, the setting RUN_SECONDS_MAX is
 * an upper bound of the run time.
 */
export type OperatorPlanLimits = PlanLimits

/**
 * Plan that is assigned to an account. `ownLimits` is null for a built-in plan, whose limits are in
 * PLAN_LIMITS.
 */
export type AssignedPlan = { plan: string; ownLimits: OperatorPlanLimits | null }

const GIB = 1024 ** 3

/** Default limits of the built-in plans. Settings of the deployment can override each limit. */
export const PLAN_LIMITS: Record<BuiltInPlan, PlanLimits> = {
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
