import type { Env } from "../../env.ts"
import { newId } from "../../ids.ts"
import { poolOfTask } from "../../kinds/registry.ts"
import { copyObject } from "../../storage/copy-object.ts"
import { databaseOf } from "../../storage/database.ts"
import type { Idempotency } from "../../storage/idempotency.ts"
import { draftInputs, draftJob, draftOutput, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft, JobFacts } from "../../storage/job-drafts.ts"
import type { PartWriter } from "../../storage/part-writer.ts"
import { spaceOf } from "../../storage/state-disk.ts"
import type { File } from "../../storage/schema/files.ts"
import type { Job } from "../../storage/schema/jobs.ts"
import { isFinal } from "../../storage/schema/states.ts"
import type { Task } from "../../storage/schema/tasks.ts"
import { listTaskInputs } from "../../storage/tasks.ts"
import { readSnapshot } from "../../storage/transitions.ts"
import type { JobSnapshot } from "../../storage/transitions.ts"
import { wholeSnapshot } from "../../storage/whole-rows.ts"
import { abandonWriter } from "../uploads/abandon.ts"
import { acceptJob, findAccepted } from "./create.ts"
import type { Accepted, BackgroundContext } from "./create.ts"

type Input = Awaited<ReturnType<typeof listTaskInputs>>[number]

/**
 * Makes a new job of the request of one that is over; `gone` names inputs that no longer exist,
 * `full` is a disk without room for a copy of the job's own file.
 */
export async function retryJob(
  env: Env,
  ctx: BackgroundContext,
  job: Job,
  once: Idempotency | null,
): Promise<Accepted | { gone: string[] } | "full"> {
  const database = databaseOf(env, job.accountId)
  const earlier = once && (await findAccepted(database, once))
  if (earlier) return earlier
  const read = (await readSnapshot(database, job.id)) ?? { job, tasks: [], files: [] }
  const before = await wholeSnapshot(env.MEDIA, read)
  const inputs = await listTaskInputs(database, job.id)
  const gone = inputs.filter((input) => isGone(input, job)).map(({ key }) => key)
  if (gone.length > 0) return { gone }
  const stored = before.files.find((file) => file.id === job.id && file.objectKey !== null)
  const writers: PartWriter[] = []
  let accepted: Accepted | null = null
  try {
    const again = draftAgain(before, inputs)
    if (stored?.objectKey) {
      const source = { sourceKey: stored.objectKey, holdSpace: spaceOf(env) }
      const isCopied = await copyObject(env.MEDIA, database, source, (begun) => writers.push(begun))
      if (!isCopied) return "full"
    }
    const draft = stored && writers[0] ? withCopy(again, stored, writers[0]) : again
    accepted = await acceptJob(env, ctx, database, { ...draft, once })
    return accepted
  } finally {
    const isMade = accepted !== null && accepted !== "conflict" && !accepted.replayed
    for (const writer of isMade ? [] : writers) await abandonWriter(env, writer)
  }
}

/** An own file of the job comes anew with it; others have to be there. */
function isGone({ file }: Input, job: Job): boolean {
  if (file?.jobId === job.id) return false
  return !file || (isFinal(file.state) && file.objectKey === null)
}

/** The job with its tasks and files to come once more, all under ids of their own. */
function draftAgain({ job, tasks, files }: JobSnapshot, inputs: Input[]): JobDraft {
  const id = newId()
  const facts: JobFacts = { ...job, now: Date.now(), retryOf: job.id }
  const toCome = tasks
    .flatMap(({ work }) => work.outputs ?? [])
    .map(({ key, name }) => {
      const before = files.find((file) => file.outputKey === key)
      const source = before?.source ?? "output"
      return draftOutput(facts, { jobId: id, outputKey: key, name, source })
    })
  function fileAgain({ fileId }: Input): string {
    const own = files.find((file) => file.id === fileId)
    if (!own) return fileId
    return toCome.find((file) => file.outputKey === own.outputKey)?.id ?? id
  }
  function taskAgain(task: Task) {
    const own = inputs.filter((input) => input.taskId === task.id)
    return draftTask(facts, {
      jobId: id,
      pool: poolOfTask(task),
      work: task.work,
      ...draftInputs(own.map((input) => ({ ...input, fileId: fileAgain(input) }))),
    })
  }
  return {
    job: draftJob(facts, { id, kind: job.kind, request: job.request }),
    tasks: tasks.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(taskAgain),
    files: toCome,
  }
}

function withCopy(draft: JobDraft, file: File, { upload }: PartWriter): JobDraft {
  const { name, contentType, sizeBytes, source } = file
  const { id, createdAt } = draft.job
  const stored = { name, contentType, sizeBytes, source, createdAt }
  const copy = { ...stored, id, jobId: id, state: "waiting" as const, objectKey: upload.objectKey }
  return { ...draft, files: [...draft.files, copy], uploadId: upload.id }
}
