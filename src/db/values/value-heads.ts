import type { TaskWork } from "../../contract/task.ts"
import { computeMaxExportedValueBytes } from "./exported-bytes.ts"
import type { JobResult } from "../schema/jobs.ts"

// Functions that shorten values for rows whose complete value is an R2 object. A shortened value is
// called a head. overflow.ts makes the heads of probes and bundles.

type Transcript = NonNullable<JobResult["transcribed"]>

/** Maximum size in bytes of one field in a shortened request, and of all its fields together. */
const FIELD_BYTES_MAX = 2_000
const FIELDS_BYTES_MAX = 4_000

/**
 * Returns a job's result without its long parts: members of bundles, metadata of lookups, texts of
 * transcriptions and long standard output.
 */
export function shortenJobResult(result: JobResult): JobResult {
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
 * Returns the description of a task's work with only its kind and outputs. Each time a runner
 * stores an object, the outputs are read to check the object's key, so they stay in the row.
 */
export function shortenTaskWork({ kind, outputs }: TaskWork): TaskWork {
  return { kind, ...(outputs && { outputs }) }
}

/**
 * Returns the request of a job without its long fields (FIELD_BYTES_MAX), for lists and for the row
 * of a job whose whole request is stored in R2.
 */
export function shortenJobRequest(request: unknown): unknown {
  const head: [string, unknown][] = []
  let bytes = 0
  const fields: [string, unknown][] = request instanceof Object ? Object.entries(request) : []
  for (const [name, value] of fields) {
    const own = computeMaxExportedValueBytes(JSON.stringify({ [name]: value }))
    if (own > FIELD_BYTES_MAX || bytes + own > FIELDS_BYTES_MAX) continue
    bytes += own
    head.push([name, value])
  }
  return Object.fromEntries(head)
}
