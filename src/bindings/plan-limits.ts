import { DEFAULT_PLAN, isBuiltInPlan, PLAN_LIMITS } from "../domain/plans.ts"
import type { AssignedPlan, PlanLimits } from "../domain/plans.ts"
import type { Settings } from "./settings.ts"

/**
 * Returns the limits that apply to an account. A built-in plan has the limits of
 * src/domain/plans.ts, which settings may override. A plan of the operator has its own limits.
 * RUN_SECONDS_MAX bounds the run time of every plan.
 */
export function computeEffectiveLimits(
  { plan, ownLimits }: AssignedPlan,
  values: Settings,
): PlanLimits {
  if (ownLimits) {
    return {
      ...ownLimits,
      runSecondsMax: Math.min(ownLimits.runSecondsMax, values.RUN_SECONDS_MAX),
    }
  }
  const name = isBuiltInPlan(plan) ? plan : DEFAULT_PLAN
  const prefix = name === "trial" ? "TRIAL" : "PAID"
  const limits = PLAN_LIMITS[name]
  const runSecondsMax = values[`${prefix}_RUN_SECONDS_MAX`] ?? limits.runSecondsMax
  return {
    fileBytesMax: values[`${prefix}_FILE_BYTES_MAX`] ?? limits.fileBytesMax,
    inputBytesMax: values[`${prefix}_INPUT_BYTES_MAX`] ?? limits.inputBytesMax,
    requestsPerMinute: values[`${prefix}_REQUESTS_PER_MINUTE`] ?? limits.requestsPerMinute,
    runningJobsMax: values[`${prefix}_RUNNING_JOBS_MAX`] ?? limits.runningJobsMax,
    waitingJobsMax: values[`${prefix}_WAITING_JOBS_MAX`] ?? limits.waitingJobsMax,
    runSecondsMax: Math.min(runSecondsMax, values.RUN_SECONDS_MAX),
    storageBytesMax: values[`${prefix}_STORAGE_BYTES_MAX`] ?? limits.storageBytesMax,
    fetchesPerDay: values[`${prefix}_FETCHES_PER_DAY`] ?? limits.fetchesPerDay,
    linkSecondsMax: values[`${prefix}_LINK_SECONDS_MAX`] ?? limits.linkSecondsMax,
    slotsShareMax: limits.slotsShareMax,
  }
}
