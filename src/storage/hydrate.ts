import pMap from "p-map"
import { z } from "zod"
import { member } from "../contract/bundle.ts"
import type { Bundle } from "../contract/bundle.ts"
import { probeResult } from "../contract/probe.ts"
import { taskResult, taskWork } from "../contract/task.ts"
import { readText, readValue } from "./large-values.ts"
import type { Delivery } from "./schema/deliveries.ts"
import type { File } from "./schema/files.ts"
import type { Job, JobResult } from "./schema/jobs.ts"
import type { Task } from "./schema/tasks.ts"
import type { JobSnapshot } from "./transitions.ts"
import { headOfResult } from "./value-heads.ts"

// Rows with the values that went to R2 when they were written (overflow.ts). One that has all costs nothing.

/** A Worker has six connections. */
const READ_AT_ONCE = 6

const jobResult = z.custom<JobResult>((value) => value instanceof Object)
const bundle: z.ZodType<Bundle> = z.object({
  kind: z.enum(["playlist", "series"]),
  playlist: z.string().exactOptional(),
  durationSeconds: z.number().exactOptional(),
  members: z.array(member).exactOptional(),
})

/** A job with its whole request and its whole result. */
export async function hydrateJob(bucket: R2Bucket, job: Job): Promise<Job> {
  const { requestObjectKey, resultObjectKey } = job
  if (requestObjectKey === null && resultObjectKey === null) return job
  const [request, result] = await Promise.all([
    readValue(bucket, requestObjectKey, { inRow: job.request, schema: z.unknown() }),
    readValue(bucket, resultObjectKey, { inRow: job.result, schema: jobResult.nullable() }),
  ])
  return { ...job, request, result }
}

/**
 * Jobs of a list, which show requests where `request` says so, and results without what is long. The few
 * of which a row had not even room for that are read from R2.
 */
export async function hydrateListed(
  bucket: R2Bucket,
  jobs: readonly Job[],
  { request }: { request: boolean },
): Promise<Job[]> {
  return await pMap(
    jobs,
    async (job) => {
      const shown = await hydrateHead(bucket, job)
      if (!request || job.requestObjectKey === null) return shown
      return { ...shown, request: (await hydrateJob(bucket, job)).request }
    },
    { concurrency: READ_AT_ONCE },
  )
}

/** A job with a result as lists show it, also where its row had no room for that. */
export async function hydrateHead(bucket: R2Bucket, job: Job): Promise<Job> {
  if (job.result !== null || job.resultObjectKey === null) return job
  const { result } = await hydrateJob(bucket, job)
  return { ...job, result: result && headOfResult(result) }
}

/** A task with its whole work and its whole result. */
export async function hydrateTask(bucket: R2Bucket, task: Task): Promise<Task> {
  const { workObjectKey, resultObjectKey } = task
  if (workObjectKey === null && resultObjectKey === null) return task
  const [work, result] = await Promise.all([
    readValue(bucket, workObjectKey, { inRow: task.work, schema: taskWork }),
    readValue(bucket, resultObjectKey, { inRow: task.result, schema: taskResult.nullable() }),
  ])
  return { ...task, work, result }
}

/** A file with its whole probe and, of a bundle, all its members. */
export async function hydrateFile(bucket: R2Bucket, file: File): Promise<File> {
  const { probeObjectKey, bundleObjectKey } = file
  if (probeObjectKey === null && bundleObjectKey === null) return file
  const [probe, members] = await Promise.all([
    readValue(bucket, probeObjectKey, { inRow: file.probe, schema: probeResult.nullable() }),
    readValue(bucket, bundleObjectKey, { inRow: file.bundle, schema: bundle.nullable() }),
  ])
  return { ...file, probe, bundle: members }
}

/** A bundle of which R2 has the members; null where it is gone. */
export async function readBundle(bucket: R2Bucket, objectKey: string): Promise<Bundle | null> {
  return await readValue(bucket, objectKey, { inRow: null, schema: bundle.nullable() })
}

/** A snapshot whose job and tasks are whole; files are as their rows have them. */
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

/** What every try of a delivery sends; null where it is gone. */
export async function readBody(
  bucket: R2Bucket,
  { body, bodyObjectKey }: Pick<Delivery, "body" | "bodyObjectKey">,
): Promise<string | null> {
  return bodyObjectKey === null ? body : await readText(bucket, bodyObjectKey)
}
