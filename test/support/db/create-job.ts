import type { AccountDatabase } from "../../../src/db/database.ts"
import { createJobs } from "../../../src/db/jobs/create-job.ts"
import type { JobDraft } from "../../../src/domain/job-draft.ts"

/** Writes one job to D1 by the service's own function, without the limits of an account. */
export async function createJob(database: AccountDatabase, draft: JobDraft): Promise<void> {
  await createJobs(database, { drafts: [draft], batch: null, once: draft.once })
}
