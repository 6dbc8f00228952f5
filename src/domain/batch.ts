import type { Batch } from "../db/schema/batches.ts"
import type { Job } from "../db/schema/jobs.ts"

/** Maximum number of jobs in a batch, and of jobs that one request can cancel or retry together. */
export const BATCH_JOBS_MAX = 64

/** Ids of a job and of another job (`neededJobId`) whose outputs the first job reads. */
export type JobDependency = { jobId: string; neededJobId: string }

/** Consistent read of a batch with its jobs, in the order in which the batch created them. */
export type BatchWithJobs = { batch: Batch; jobs: Job[]; dependencies: JobDependency[] }
