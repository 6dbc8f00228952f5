import { z } from "zod"
import { bundleMemberSchema, bundleMemberNameSchema, BUNDLE_MEMBERS_MAX } from "./bundle.ts"
import { blameSchema, failureSchema } from "./failure.ts"
import { probeResultSchema } from "./probe.ts"
import { sha256HexSchema } from "./sha256.ts"
import { taskResultSchema } from "./task.ts"

/**
 * Maximum size of a runner's report, in bytes. Usual reports are smaller, because probes and bundle
 * members have their own limits. A job fails if its report is larger.
 */
export const REPORT_BYTES_MAX = 8 * 1024 * 1024

/** Maximum size of all probes in a report together, in bytes. */
export const REPORT_PROBES_BYTES_MAX = 5 * 1024 * 1024

/** Maximum number of outputs that a task reports. */
export const OUTPUTS_MAX = 100

/** Maximum size of the tool log that a task's report contains, in bytes. */
export const LOG_BYTES_MAX = 64 * 1024

/** Maximum size of the standard output that a task's report contains, in bytes. */
export const STDOUT_BYTES_MAX = 64 * 1024

const PROBE_ERROR_LENGTH_MAX = 1000

/**
 * Output that a task stored, with its key, content type and probe. The size of a bundle is the
 * total size of its members. `duration_seconds` and `playlist` are present only for playlists.
 * `sha256` is present only for an output that the runner had completely in memory.
 */
export const outputReportSchema = z.object({
  key: z.string().max(200),
  size_bytes: z.int().nonnegative(),
  content_type: z.string().max(200),
  sha256: sha256HexSchema.optional(),
  probe: probeResultSchema.optional(),
  probe_error: z
    .string()
    .transform((text) => text.slice(0, PROBE_ERROR_LENGTH_MAX))
    .optional(),
  members: z.array(bundleMemberSchema).min(1).max(BUNDLE_MEMBERS_MAX).optional(),
  playlist: bundleMemberNameSchema.optional(),
  duration_seconds: z.number().nonnegative().optional(),
})

export type OutputReport = z.infer<typeof outputReportSchema>

const count = z.int().nonnegative()

/**
 * Last part of the tool log of a task, without paths of the machine; absent for kinds of tasks that
 * keep no log.
 */
const log = z
  .string()
  .transform((text) => text.slice(-LOG_BYTES_MAX))
  .optional()

/**
 * Last part of the text that the tools of a task wrote to standard output; absent if the tools
 * wrote no text.
 */
const stdout = z
  .string()
  .transform((text) => text.slice(-STDOUT_BYTES_MAX))
  .optional()

/**
 * Progress details that a tool reports: frames, bytes and media time written so far, and the speed
 * (1 is real time). A null value means that the tool does not report the value. Details are
 * available even if the total amount of work is unknown.
 */
export const progressDetailSchema = z.object({
  frame: count.nullable(),
  time_seconds: z.number().nonnegative().nullable(),
  speed: z.number().nonnegative().nullable(),
  size_bytes: count.nullable(),
})

export type ProgressDetail = z.infer<typeof progressDetailSchema>

const reportBase = z.object({ boot: z.string().min(1).max(200), at: z.iso.datetime() })

/**
 * Report of a runner about a task, sent to `POST {io}/reports`. After response 200 the run
 * continues. Response 410 means that the task no longer belongs to this runner, and the runner
 * kills the run.
 */
export const reportSchema = z.discriminatedUnion("kind", [
  reportBase.extend({ kind: z.literal("started") }),
  reportBase.extend({
    kind: z.literal("progress"),
    /** Finished share of the task in percent; 0 if the share is unknown. */
    percent: z.number().min(0).max(100),
    eta_seconds: z.number().nonnegative().optional(),
    detail: progressDetailSchema.optional(),
  }),
  reportBase.extend({
    kind: z.literal("finished"),
    processing_seconds: z.number().nonnegative(),
    /** Result of the task, in the schema of the task's kind. */
    result: taskResultSchema,
    log,
    stdout,
  }),
  reportBase.extend({
    kind: z.literal("failed"),
    processing_seconds: z.number().nonnegative(),
    blame: blameSchema,
    failure: failureSchema,
    log,
    stdout,
  }),
  reportBase.extend({
    kind: z.literal("interrupted"),
    processing_seconds: z.number().nonnegative(),
  }),
])

export type Report = z.infer<typeof reportSchema>

/** Returns the failure report that replaces a report above the size limit. */
export function makeOversizedReportFailure(boot: string): Extract<Report, { kind: "failed" }> {
  const message =
    "The result of the job cannot be stored: it has too many files, names or metadata."
  return {
    kind: "failed",
    boot,
    at: new Date().toISOString(),
    processing_seconds: 0,
    blame: "caller",
    failure: { code: "output_limit", message, lines: [] },
  }
}
