import { z } from "zod"
import { member, MEMBERS_MAX } from "./bundle.ts"
import { blame, failure } from "./failure.ts"
import { probeResult } from "./probe.ts"
import { taskResult } from "./task.ts"

/**
 * One output that a task stored: its key, what it is, and what ffprobe says of it. A bundle has
 * members, and its size is theirs; `duration_seconds` is what its playlist says.
 */
export const outputReport = z.object({
  key: z.string(),
  size_bytes: z.int().nonnegative(),
  content_type: z.string(),
  probe: probeResult.optional(),
  probe_error: z.string().max(1000).optional(),
  members: z.array(member).min(1).max(MEMBERS_MAX).optional(),
  duration_seconds: z.number().nonnegative().optional(),
})

export type OutputReport = z.infer<typeof outputReport>

const moment = z.object({ boot: z.string().min(1), at: z.iso.datetime() })

/**
 * What a runner says of a task, sent to `POST {io}/reports`. Answers: 200 goes on, 410 means that
 * the task is no longer this runner's and its run is to be killed.
 */
export const report = z.discriminatedUnion("kind", [
  moment.extend({ kind: z.literal("started") }),
  moment.extend({
    kind: z.literal("progress"),
    percent: z.number().min(0).max(100),
    eta_seconds: z.number().nonnegative().optional(),
  }),
  moment.extend({
    kind: z.literal("finished"),
    processing_seconds: z.number().nonnegative(),
    /** What the task made, as the definition of its kind says. */
    result: taskResult,
  }),
  moment.extend({
    kind: z.literal("failed"),
    processing_seconds: z.number().nonnegative(),
    blame,
    failure,
  }),
  moment.extend({ kind: z.literal("interrupted"), processing_seconds: z.number().nonnegative() }),
])

export type Report = z.infer<typeof report>
