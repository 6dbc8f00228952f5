import { z } from "zod"

/** Why a service that answers does not do its work as it should; codes for the operator. */
export const DEGRADED_REASONS = [
  "disk_full",
  "runner_unreachable",
  "sandbox_failed",
  "slot_not_ended",
] as const

export type DegradedReason = (typeof DEGRADED_REASONS)[number]

/** What `GET /health` of a runner says that others judge it by. */
export const runnerHealth = z.object({
  sandbox: z.object({
    ok: z.boolean(),
    /** Whether this system can sandbox tools at all, so that another self-test may pass. */
    supported: z.boolean(),
    problem: z.string().nullable(),
    /** What it lacks that a stronger sandbox would give, and why that one is not used. */
    loss: z.string().nullable(),
  }),
})
