import { env } from "cloudflare:workers"
import { newId } from "../../../src/platform/ids.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { createJob } from "./create-job.ts"
import { draftJobRow, draftTask } from "../../../src/domain/job-draft.ts"
import { claimTask } from "../../../src/db/jobs/tasks.ts"
import { makeJobProperties } from "../job-facts.ts"

/**
 * Writes a command job with one waiting task to D1, with the rows that a POST /commands would
 * write.
 */
export async function makeQueuedJob(accountId: string, changes: { agoMs?: number } = {}) {
  const jobId = newId()
  const facts = { ...makeJobProperties(null), now: Date.now() - (changes.agoMs ?? 0) }
  const work = { kind: "command", commands: [["x"]], outputs: [], run_seconds_max: 1 }
  const made = draftTask(facts, { pool: "media", jobId, work, inputs: [], blocked: false })
  await createJob(openAccountDatabases(env, accountId), {
    job: draftJobRow(facts, { id: jobId, kind: "command", request: { output_files: {} } }),
    tasks: [made],
    files: [],
  })
  const taskId = made.task.id
  const weights = { weight: 1, jobWeight: 1 }
  const message = {
    id: taskId,
    jobId,
    pool: "media",
    priority: 50,
    createdAt: facts.now,
    ...weights,
  }
  return { jobId, taskId, message }
}

/**
 * Creates a command job whose task is claimed (assigned to a runner slot) for the first time, which
 * sets the task's fencing token to 1.
 */
export async function makeClaimedJob(accountId: string, slot = "media-0") {
  const made = await makeQueuedJob(accountId)
  const claim = { taskId: made.taskId, jobId: made.jobId, slot, allocation: 1, now: Date.now() }
  await claimTask(openAccountDatabases(env, accountId), claim)
  return made
}
