/** The plans that every deployment has; an operator may make others. */
export const BUILT_IN_PLANS = ["trial", "paid"] as const
export type BuiltInPlan = (typeof BUILT_IN_PLANS)[number]

/** The plan of an account whose name nobody gave a plan. */
export const DEFAULT_PLAN: BuiltInPlan = "trial"

export function isBuiltInPlan(name: string): name is BuiltInPlan {
  return BUILT_IN_PLANS.some((plan) => plan === name)
}

/** What an account may use. */
export type Limits = {
  /** Of one file. */
  fileBytesMax: number
  /** Of all inputs of a job together, a file under several keys counted once. */
  inputBytesMax: number
  /** Of one key. */
  requestsPerMinute: number
  /** Tasks of one pool of runners at once; more of them wait. */
  runningJobsMax: number
  /** Jobs that have not begun; more of them are refused. */
  waitingJobsMax: number
  /** Longest run of a job's tools; RUN_SECONDS_MAX bounds every plan. */
  runSecondsMax: number
  /** Of all that is stored of it. */
  storageBytesMax: number
  /** Media that its jobs bring in from URLs on one day, UTC. */
  fetchesPerDay: number
  /** Life of a download link that a caller asks for, in seconds. */
  linkSecondsMax: number
  /** Share of a pool's slots that it may hold while other accounts want some, from 0 to 1. */
  slotsShareMax: number
}

/** The limits of a plan of the operator's own; RUN_SECONDS_MAX of the deployment bounds it too. */
export type OwnLimits = Limits

/** An account's plan, with its limits where it is one of the operator's own. */
export type HeldPlan = { plan: string; ownLimits: OwnLimits | null }

const GIB = 1024 ** 3

/** The one table of the plans' numbers; settings replace single ones. */
export const LIMITS: Record<BuiltInPlan, Limits> = {
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
