import { metadataTask } from "../../contract/tasks/metadata.ts"
import type { MetadataWork } from "../../contract/tasks/metadata.ts"
import { newId } from "../../ids.ts"
import { draftJob, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"

/** Somebody waits for a lookup, so that it comes before all work of the account. */
const PRIORITY = 1000

/** The job of a lookup: one task that asks the page. */
export function planMetadata(
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
  const pool = metadataTask.pool()
  return {
    job: draftJob(facts, { id, kind: "metadata", request: {} }),
    tasks: [draftTask(facts, { jobId: id, pool, work, inputs: [], blocked: false })],
    files: [],
  }
}
