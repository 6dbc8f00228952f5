import { z } from "zod"
import { buildLimitRecord } from "../domain/plan-fields.ts"
import type { LimitName } from "../domain/plan-fields.ts"
import { BUILT_IN_PLANS, isBuiltInPlan, PLAN_LIMITS } from "../domain/plans.ts"
import type { OperatorPlanLimits } from "../domain/plans.ts"

const TIB = 1024 ** 4

/**
 * Range of values that an operator's plan may set for each limit. Both ends of a range are
 * included.
 */
export const OPERATOR_PLAN_LIMIT_RANGES: Record<LimitName, readonly [min: number, max: number]> = {
  requests_per_minute: [1, 10_000_000],
  running_jobs: [1, 10_000],
  waiting_jobs: [1, 10_000_000],
  file_bytes: [1, 5 * TIB],
  input_bytes: [1, 100 * TIB],
  run_seconds: [1, 86_400],
  storage_bytes: [1, 1024 * TIB],
  fetches_per_day: [0, 10_000_000],
  link_seconds: [1, 366 * 86_400],
}

const NAME = /^[a-z0-9-]{1,40}$/

/** Schema for the name of a plan that the operator creates. */
export const operatorPlanNameSchema = z
  .string("expected a string")
  .regex(NAME, "expected 1 to 40 characters of a-z, 0-9 and -")
  .refine(
    (name) => !isBuiltInPlan(name),
    `${BUILT_IN_PLANS.join(" and ")} are built-in plans; choose another name`,
  )

/**
 * Schema for the limits of a plan that the operator creates, by their public names. Converts them
 * to the internal names.
 */
export const operatorPlanLimitsSchema = z
  .strictObject({
    ...buildLimitRecord((_, name) => limitNumber(name)),
    link_seconds: limitNumber("link_seconds").default(PLAN_LIMITS.paid.linkSecondsMax),
    /**
     * Largest share of a runner pool's task slots that an account of the plan may occupy while
     * other accounts wait.
     */
    slots_share: z
      .number("expected a number from 0 to 1")
      .min(0, "expected a number from 0 to 1")
      .max(1, "expected a number from 0 to 1")
      .default(1),
  })
  .transform((numbers): OperatorPlanLimits => ({
    requestsPerMinute: numbers.requests_per_minute,
    runningJobsMax: numbers.running_jobs,
    waitingJobsMax: numbers.waiting_jobs,
    fileBytesMax: numbers.file_bytes,
    inputBytesMax: numbers.input_bytes,
    runSecondsMax: numbers.run_seconds,
    storageBytesMax: numbers.storage_bytes,
    fetchesPerDay: numbers.fetches_per_day,
    linkSecondsMax: numbers.link_seconds,
    slotsShareMax: numbers.slots_share,
  }))

function limitNumber(name: LimitName) {
  const [min, max] = OPERATOR_PLAN_LIMIT_RANGES[name]
  const message = `expected a whole number from ${min} to ${max}`
  return z
    .number(message)
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, message)
}
