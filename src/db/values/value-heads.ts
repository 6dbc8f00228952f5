import type { TaskWork } from "../../contract/task.ts"
import { maxExportBytes } from "./exported-bytes.ts"
import type { JobResult } from "../schema/jobs.ts"

// Shortens values ("heads") for rows whose complete value is an R2 object. Heads of probes and of
// bundles are made in overflow.ts.

type Transcript = NonNullable<JobResult["transcribed"]>

/** Maximum size of one field of a request's head, and of the whole head, in bytes. */
const FIELD_BYTES_MAX = 2_000
const FIELDS_BYTES_MAX = 4_000

/**
 * Returns a job's result without its long parts: members of bundles, metadata of lookups, texts of
 * transcriptions and long standard output.
 */
export function toResultHead(result: JobResult): JobResult {
  const { outputs, metadata: _metadata, stdout: _stdout, transcribed, ...others } = result
  return {
    ...others,
    ...(transcribed && { transcribed: withoutText(transcribed) }),
    outputs: outputs.map((output) => {
      const { files: _, ...others } = output
      return others
    }),
  }
}

/** Returns the result of a transcription without its text. */
function withoutText({ language, duration_seconds }: Transcript): Transcript {
  return { language, duration_seconds }
}

/**
 * Returns a task's work with only its kind and outputs. Every object that a runner stores is
 * checked against the outputs.
 */
export function toWorkHead({ kind, outputs }: TaskWork): TaskWork {
  return { kind, ...(outputs && { outputs }) }
}

/** Returns a request with only its short fields, for lists. */
export function toRequestHead(request: unknown): unknown {
  const head: [string, unknown][] = []
  let bytes = 0
  const fields: [string, unknown][] = request instanceof Object ? Object.entries(request) : []
  for (const [name, value] of fields) {
    const own = maxExportBytes(JSON.stringify({ [name]: value }))
    if (own > FIELD_BYTES_MAX || bytes + own > FIELDS_BYTES_MAX) continue
    bytes += own
    head.push([name, value])
  }
  return Object.fromEntries(head)
}
