import { z } from "zod"
import { member, memberName, MEMBERS_MAX } from "./bundle.ts"
import { blame, failure } from "./failure.ts"
import { probeResult } from "./probe.ts"
import { sha256Text } from "./sha256.ts"
import { taskResult } from "./task.ts"

/**
 * The most bytes that a report has. A runner sends less, since it fits probes into their part of it
 * and a command's members are few; one above it ends its job.
 */
export const REPORT_BYTES_MAX = 8 * 1024 * 1024

/** The most bytes that the probes of a report have, all together. */
export const PROBES_BYTES_MAX = 5 * 1024 * 1024

/** The most outputs that a task reports. */
export const OUTPUTS_MAX = 100

/** The most bytes that are kept of what the tools of a task said. */
export const LOG_BYTES_MAX = 64 * 1024

const PROBE_ERROR_LENGTH_MAX = 1000

/**
 * One output that a task stored: its key, what it is, and what ffprobe says of it. A bundle has
 * members, and its size is theirs; `duration_seconds` is what its playlist says, and `playlist` the
 * member to begin with, where there is one. A digest is there where the runner had the bytes in its
 * memory.
 */
export const outputReport = z.object({
  key: z.string().max(200),
  size_bytes: z.int().nonnegative(),
  content_type: z.string().max(200),
  sha256: sha256Text.optional(),
  probe: probeResult.optional(),
  probe_error: z
    .string()
    .transform((text) => text.slice(0, PROBE_ERROR_LENGTH_MAX))
    .optional(),
  members: z.array(member).min(1).max(MEMBERS_MAX).optional(),
  playlist: memberName.optional(),
  duration_seconds: z.number().nonnegative().optional(),
})

export type OutputReport = z.infer<typeof outputReport>

const count = z.int().nonnegative()

/** What the tools of a task said last, without paths of the machine; none of a kind that keeps none. */
const log = z
  .string()
  .transform((text) => text.slice(-LOG_BYTES_MAX))
  .optional()

/**
 * What a tool says of its work as it goes on, whether its end is known or not: frames and bytes that
 * it wrote, how much of the media that is, and how fast it goes (1: as fast as it plays). Null where
 * it does not say so.
 */
export const progressDetail = z.object({
  frame: count.nullable(),
  time_seconds: z.number().nonnegative().nullable(),
  speed: z.number().nonnegative().nullable(),
  size_bytes: count.nullable(),
})

export type ProgressDetail = z.infer<typeof progressDetail>

const moment = z.object({ boot: z.string().min(1).max(200), at: z.iso.datetime() })

/**
 * What a runner says of a task, sent to `POST {io}/reports`. Answers: 200 goes on, 410 means that
 * the task is no longer this runner's and its run is to be killed.
 */
export const report = z.discriminatedUnion("kind", [
  moment.extend({ kind: z.literal("started") }),
  moment.extend({
    kind: z.literal("progress"),
    /** 0 also where nothing is known to be done. */
    percent: z.number().min(0).max(100),
    eta_seconds: z.number().nonnegative().optional(),
    detail: progressDetail.optional(),
  }),
  moment.extend({
    kind: z.literal("finished"),
    processing_seconds: z.number().nonnegative(),
    /** What the task made, as the definition of its kind says. */
    result: taskResult,
    log,
  }),
  moment.extend({
    kind: z.literal("failed"),
    processing_seconds: z.number().nonnegative(),
    blame,
    failure,
    log,
  }),
  moment.extend({ kind: z.literal("interrupted"), processing_seconds: z.number().nonnegative() }),
])

export type Report = z.infer<typeof report>

/** What counts in the place of a report that is too large to be kept: its job ends, and says why. */
export function oversizedReport(boot: string): Extract<Report, { kind: "failed" }> {
  const message = "What the job made cannot be kept: it has too many files, names or metadata."
  return {
    kind: "failed",
    boot,
    at: new Date().toISOString(),
    processing_seconds: 0,
    blame: "caller",
    failure: { code: "output_limit", message, lines: [] },
  }
}
