import { retryJobs } from "../../../jobs/retry.ts"
import type { RetryRequest } from "../../../jobs/retry.ts"
import type { File } from "../../../db/schema/files.ts"
import { isCallerFileSource } from "../../../domain/states.ts"
import { describeFailedFile } from "../../../kinds/reference.ts"
import { getKind } from "../../../kinds/registry.ts"
import { requireAcceptedJob, readJobCreator } from "../../input/accept.ts"
import type { CreatedJob } from "../../input/accept.ts"
import type { AppContext } from "../../context.ts"
import { Problem, storageFullProblem, invalidFieldsProblem } from "../../output/problem.ts"

/**
 * Creates new jobs that repeat finished jobs. Each new job comes after the jobs whose outputs it
 * reads. Throws if a job cannot be repeated, or if the account may not create the new jobs.
 */
export async function retryJobsOrThrow(
  c: AppContext,
  {
    batch = null,
    ...request
  }: Pick<RetryRequest, "jobs" | "once" | "headers"> & Partial<Pick<RetryRequest, "batch">>,
): Promise<CreatedJob & { newJobIds: string[] }> {
  const all = { ...request, batch, creating: readJobCreator(c) }
  const retried = retryJobs(c.env, c.executionCtx, c.get("database"), all)
  // Let the retry finish if the client disconnects. If it creates no job, it must still delete the
  // input files that it copied.
  c.executionCtx.waitUntil(retried.catch(() => undefined))
  const outcome = await retried
  if (outcome === "full") throw storageFullProblem()
  if (outcome === "conflict" || "exceeded" in outcome) {
    return { ...requireAcceptedJob(c, outcome), newJobIds: [] }
  }
  if ("faults" in outcome) throw invalidFieldsProblem(outcome.faults)
  if ("refusal" in outcome) {
    throw new Problem("not_retryable", nameJob(request.jobs, outcome.job.id, outcome.refusal))
  }
  if ("gone" in outcome) {
    const { inputField } = getKind(outcome.job.kind)
    throw invalidFieldsProblem(
      outcome.gone.map(({ key, file }) => {
        const message = nameJob(request.jobs, outcome.job.id, describeGoneFile(file))
        return { field: inputField(key), message }
      }),
    )
  }
  return { ...requireAcceptedJob(c, outcome), newJobIds: outcome.newJobIds }
}

/**
 * Returns the error message for a missing input file of a repeated job; `file` is null if the row
 * of the file was deleted.
 */
function describeGoneFile(file: File | null): string {
  if (file === null || isCallerFileSource(file.source)) {
    return "the file no longer exists; upload it again and send a new request"
  }
  return `${describeFailedFile(file)} with dependents=true`
}

/** Adds the id of a job to an error message about the job, if the request repeats several jobs. */
function nameJob(jobs: RetryRequest["jobs"], id: string, message: string): string {
  return jobs.length === 1 ? message : `${message} (job ${id})`
}
