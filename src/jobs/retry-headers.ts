import type { PrivateHeaders } from "../contract/urls/private-headers.ts"
import { importTaskDefinition } from "../contract/tasks/import.ts"
import type { Fault } from "../domain/faults.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"
import { getKind } from "../kinds/registry.ts"

/**
 * HTTP headers for inputs of a retry, by the name of the request field that has the input's URL.
 */
export type RetryHeaders = { [field: string]: { [name: string]: string } }

/** Key of the URL of a fetch job, from which the name of the request field is derived. */
const FETCH_KEY = "url"

/**
 * Assigns the HTTP headers of a retry to the tasks that request URLs with headers. The service does
 * not store the headers of the first job. Returns the headers by task id, or an error for each
 * missing or unnecessary field.
 */
export function assignRetryHeaders(
  before: JobSnapshot,
  given: RetryHeaders,
): { headers: Map<string, PrivateHeaders> } | { faults: Fault[] } {
  const needed = privateTasks(before)
  const byField = new Map(Object.entries(given))
  const fields = [...needed.keys()]
  const missing = fields
    .filter((field) => !byField.has(field))
    .map((field) => ({ field: `headers.${field}`, message: describeMissing(field) }))
  const needless = [...byField.keys()]
    .filter((field) => !needed.has(field))
    .map((field) => ({ field: `headers.${field}`, message: describeNeedless(fields) }))
  if (missing.length + needless.length > 0) return { faults: [...missing, ...needless] }
  const headers = fields.map((field) => {
    return [needed.get(field) ?? "", Object.entries(byField.get(field) ?? {})] as const
  })
  return { headers: new Map(headers) }
}

/**
 * Returns the ids of the tasks that request URLs with headers, by the field of the URL. If several
 * fields have the same URL and headers, the first field counts.
 */
function privateTasks({ job, tasks, inputs }: JobSnapshot): Map<string, string> {
  const { inputField } = getKind(job.kind)
  return new Map(
    tasks
      .filter(({ work }) => work.has_headers)
      .map(({ id, work }) => {
        const keys = inputs.filter(({ fileId }) => fileId === id).map(({ key }) => key)
        const [first = ""] = work.kind === importTaskDefinition.name ? keys.toSorted() : [FETCH_KEY]
        return [inputField(first), id] as const
      }),
  )
}

function describeMissing(field: string): string {
  return `the headers of this input were not kept: send them again, as {"headers": {"${field}": {…}}}`
}

function describeNeedless(fields: string[]): string {
  if (fields.length === 0) return "expected no headers, because no input of the job has some"
  return `expected headers only for ${fields.join(", ")}`
}
