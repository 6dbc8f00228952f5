import pMap from "p-map"
import { z } from "zod"
import { bundleMemberSchema } from "../../contract/bundle.ts"
import type { Bundle } from "../../contract/bundle.ts"
import { probeResultSchema } from "../../contract/probe.ts"
import { taskResultSchema, taskWorkSchema } from "../../contract/task.ts"
import { readLargeText, readLargeValue } from "./large-values.ts"
import type { Delivery } from "../schema/deliveries.ts"
import type { File } from "../schema/files.ts"
import type { Job, JobResult } from "../schema/jobs.ts"
import type { Task } from "../schema/tasks.ts"
import type { JobSnapshot } from "../../domain/snapshot.ts"
import { shortenJobResult } from "./value-heads.ts"

// Reads values that were too large for their rows from R2 (overflow.ts). A row that holds all its
// values causes no read.

/** Maximum number of concurrent reads from R2. A Worker may open six connections at a time. */
const READ_AT_ONCE = 6

const jobResult = z.custom<JobResult>((value) => value instanceof Object)
const bundle: z.ZodType<Bundle> = z.object({
  kind: z.enum(["playlist", "series"]),
  playlist: z.string().exactOptional(),
  durationSeconds: z.number().exactOptional(),
  members: z.array(bundleMemberSchema).exactOptional(),
})

/** Returns a job with its complete request and result. */
export async function hydrateJob(bucket: R2Bucket, job: Job): Promise<Job> {
  const { requestObjectKey, resultObjectKey } = job
  if (requestObjectKey === null && resultObjectKey === null) return job
  const [request, result] = await Promise.all([
    readLargeValue(bucket, requestObjectKey, { inRow: job.request, schema: z.unknown() }),
    readLargeValue(bucket, resultObjectKey, { inRow: job.result, schema: jobResult.nullable() }),
  ])
  return { ...job, request, result }
}

/**
 * Returns jobs for a list, with results from which the long parts are removed. If `request` is
 * true, the requests are complete. Reads a result from R2 only if its row had no room even for the
 * short parts.
 */
export async function hydrateListedJobs(
  bucket: R2Bucket,
  jobs: readonly Job[],
  { request }: { request: boolean },
): Promise<Job[]> {
  return await pMap(
    jobs,
    async (job) => {
      const head = await hydrateListedResult(bucket, job)
      if (!request || job.requestObjectKey === null) return head
      return { ...head, request: (await hydrateJob(bucket, job)).request }
    },
    { concurrency: READ_AT_ONCE },
  )
}

/**
 * Returns a job for a list, with a result from which the long parts are removed. Reads the result
 * from R2 if the row had no room for the short parts.
 */
export async function hydrateListedResult(bucket: R2Bucket, job: Job): Promise<Job> {
  if (job.result !== null || job.resultObjectKey === null) return job
  const { result } = await hydrateJob(bucket, job)
  return { ...job, result: result && shortenJobResult(result) }
}

/** Returns a task with its complete work and result. */
export async function hydrateTask(bucket: R2Bucket, task: Task): Promise<Task> {
  const { workObjectKey, resultObjectKey } = task
  if (workObjectKey === null && resultObjectKey === null) return task
  const [work, result] = await Promise.all([
    readLargeValue(bucket, workObjectKey, { inRow: task.work, schema: taskWorkSchema }),
    readLargeValue(bucket, resultObjectKey, {
      inRow: task.result,
      schema: taskResultSchema.nullable(),
    }),
  ])
  return { ...task, work, result }
}

/** Returns a file with its complete probe and, for a bundle, all its members. */
export async function hydrateFile(bucket: R2Bucket, file: File): Promise<File> {
  const { probeObjectKey, bundleObjectKey } = file
  if (probeObjectKey === null && bundleObjectKey === null) return file
  const [probe, members] = await Promise.all([
    readLargeValue(bucket, probeObjectKey, {
      inRow: file.probe,
      schema: probeResultSchema.nullable(),
    }),
    readLargeValue(bucket, bundleObjectKey, { inRow: file.bundle, schema: bundle.nullable() }),
  ])
  return { ...file, probe, bundle: members }
}

/** Reads the description of a bundle from R2; null if the object no longer exists. */
export async function readBundleDescription(
  bucket: R2Bucket,
  objectKey: string,
): Promise<Bundle | null> {
  return await readLargeValue(bucket, objectKey, { inRow: null, schema: bundle.nullable() })
}

/**
 * Returns a snapshot whose job and tasks have their complete values. Large values of the files are
 * not read.
 */
export async function hydrateSnapshot(
  bucket: R2Bucket,
  { job, tasks, ...others }: JobSnapshot,
): Promise<JobSnapshot> {
  return {
    ...others,
    job: await hydrateJob(bucket, job),
    tasks: await Promise.all(tasks.map((task) => hydrateTask(bucket, task))),
  }
}

/**
 * Returns the request body of a webhook delivery; null if the R2 object of the body no longer
 * exists.
 */
export async function readDeliveryBody(
  bucket: R2Bucket,
  { body, bodyObjectKey }: Pick<Delivery, "body" | "bodyObjectKey">,
): Promise<string | null> {
  return bodyObjectKey === null ? body : await readLargeText(bucket, bodyObjectKey)
}
