import type { Child } from "hono/jsx"
import type { RelatedJob } from "../../../db/jobs/dependents.ts"
import { BATCH_JOBS_MAX } from "../../../domain/batch.ts"
import { isFinalState } from "../../../domain/states.ts"

/** Number of needed jobs and of dependents up to which a page names them. */
export const NAMED_JOBS_MAX = BATCH_JOBS_MAX

/** Batch of a job, the jobs whose outputs the job reads, and the jobs that read its outputs. */
export type JobRelations = {
  batchId: string | null
  batchName: string | null
  needed: readonly RelatedJob[]
  dependents: readonly RelatedJob[]
}

/** Returns the rows of a description list that link to the batch of a job and to other jobs. */
export function listRelationRows(relations: JobRelations): [term: string, value: Child][] {
  const { batchId, batchName, needed, dependents } = relations
  const open = needed.filter(({ state }) => !isFinalState(state))
  const ended = needed.filter(({ state }) => isFinalState(state))
  return [
    ...(batchId === null ? [] : [batchRow(batchId, batchName)]),
    ...jobsRow("Waits for", open),
    ...jobsRow("Reads from", ended),
    ...jobsRow("Read by", dependents),
  ]
}

function batchRow(id: string, name: string | null): [string, Child] {
  const link = (
    <a href={`/batches/${id}`}>
      batch <code>{id.slice(-8)}</code>
    </a>
  )
  return ["Batch", name === null ? link : [<code>{name}</code>, " in ", link]]
}

/** Returns a row with links to jobs; none without jobs. */
function jobsRow(term: string, jobs: readonly RelatedJob[]): [string, Child][] {
  if (jobs.length === 0) return []
  const links = jobs.map(({ id, kind, batchName }, at) => (
    <>
      {at > 0 && ", "}
      <a href={`/jobs/${id}`}>
        {batchName ?? kind} <code>{id.slice(-8)}</code>
      </a>
    </>
  ))
  return [[term, jobs.length < NAMED_JOBS_MAX ? links : [links, " and perhaps others"]]]
}
