import type { Batch } from "../db/schema/batches.ts"
import type { Job } from "../db/schema/jobs.ts"

/** Maximum number of jobs of a batch, and of jobs that one action on a job includes. */
export const BATCH_JOBS_MAX = 64

/** Pair of a job and a job whose outputs it reads. */
export type JobDependency = { jobId: string; neededJobId: string }

/** Consistent read of a batch with its jobs, in the order in which the batch created them. */
export type BatchWithJobs = { batch: Batch; jobs: Job[]; dependencies: JobDependency[] }
