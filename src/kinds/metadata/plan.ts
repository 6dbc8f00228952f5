import { metadataTaskDefinition } from "../../contract/tasks/metadata.ts"
import type { MetadataWork } from "../../contract/tasks/metadata.ts"
import { newId } from "../../platform/ids.ts"
import { draftJobRow, draftTask } from "../../domain/job-draft.ts"
import type { JobDraft } from "../../domain/job-draft.ts"

/**
 * Priority of metadata lookups, above all other jobs of the account, because a caller waits for the
 * response.
 */
const PRIORITY = 1000

/** Drafts the database rows of a metadata lookup: a job and a task, which reads the page. */
export function draftMetadataLookupJob(
  url: string,
  { origin, now, runSecondsMax }: { origin: string; now: number; runSecondsMax: number },
): JobDraft {
  const id = newId()
  const facts = {
    origin,
    now,
    priority: PRIORITY,
    metadata: null,
    webhookUrl: null,
    webhookForm: "native" as const,
  }
  const work: MetadataWork = { kind: "metadata", url, run_seconds_max: runSecondsMax }
  const pool = metadataTaskDefinition.pool()
  return {
    job: draftJobRow(facts, { id, kind: "metadata", request: {} }),
    tasks: [draftTask(facts, { jobId: id, pool, work, inputs: [], blocked: false })],
    files: [],
  }
}
