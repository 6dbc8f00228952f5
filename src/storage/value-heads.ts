import type { TaskWork } from "../contract/task.ts"
import { exportedBytes } from "./exported-bytes.ts"
import type { JobResult } from "./schema/jobs.ts"

// What rows keep of values of which the whole is in R2.

type Heard = NonNullable<JobResult["transcribed"]>

/** Of a request of which the whole is in R2: each field, and all of them together. */
const FIELD_BYTES_MAX = 2_000
const FIELDS_BYTES_MAX = 4_000

/** A job's result without members of bundles, without what a lookup found and what was said. */
export function headOfResult(result: JobResult): JobResult {
  const { outputs, metadata: _metadata, transcribed, ...others } = result
  return {
    ...others,
    ...(transcribed && { transcribed: withoutText(transcribed) }),
    outputs: outputs.map((output) => {
      const { files: _, ...others } = output
      return others
    }),
  }
}

/** What a transcription heard without its text. */
function withoutText({ language, duration_seconds }: Heard): Heard {
  return { language, duration_seconds }
}

/** The outputs are read with each byte that a runner stores. */
export function headOfWork({ kind, outputs }: TaskWork): TaskWork {
  return { kind, ...(outputs && { outputs }) }
}

/** The fields of a request that are short enough for lists. */
export function headOfRequest(request: unknown): unknown {
  const head: [string, unknown][] = []
  let bytes = 0
  const fields: [string, unknown][] = request instanceof Object ? Object.entries(request) : []
  for (const [name, value] of fields) {
    const own = exportedBytes(JSON.stringify({ [name]: value }))
    if (own > FIELD_BYTES_MAX || bytes + own > FIELDS_BYTES_MAX) continue
    bytes += own
    head.push([name, value])
  }
  return Object.fromEntries(head)
}
