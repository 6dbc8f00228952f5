import { isFinal } from "../contract/state.ts"
import type { Env } from "../env.ts"
import { newId } from "../ids.ts"
import { copyObject } from "../storage/copy-object.ts"
import { openDatabase } from "../storage/database.ts"
import { readSnapshot } from "../storage/jobs.ts"
import type { JobDraft, Snapshot } from "../storage/jobs.ts"
import type { PartWriter } from "../storage/part-writer.ts"
import { makeFileToCome, makeJob, makeTask } from "../storage/rows.ts"
import type { JobFacts } from "../storage/rows.ts"
import type { File, Job, Task } from "../storage/schema.ts"
import { listTaskInputs } from "../storage/tasks.ts"
import { acceptOnce, findAccepted } from "./create.ts"
import type { Accepted } from "./create.ts"
import { abandonWriter } from "./sweep.ts"

type Input = Awaited<ReturnType<typeof listTaskInputs>>[number]

/** Makes a new job of the request of one that is over; `gone` names inputs that no longer exist. */
export async function retryJob(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  job: Job,
  once: Parameters<typeof acceptOnce>[2],
): Promise<Accepted | { gone: string[] }> {
  const earlier = once && (await findAccepted(env, once))
  if (earlier) return earlier
  const database = openDatabase(env.DB)
  const before = (await readSnapshot(database, job.id)) ?? { job, tasks: [], files: [] }
  const inputs = await listTaskInputs(database, job.id)
  const gone = inputs.filter((input) => isGone(input, job)).map(({ key }) => key)
  if (gone.length > 0) return { gone }
  const stored = before.files.find((file) => file.id === job.id && file.objectKey !== null)
  const writers: PartWriter[] = []
  let accepted: Accepted | null = null
  try {
    accepted = await acceptOnce(env, ctx, once, async () => {
      const again = draftAgain(before, inputs)
      if (!stored?.objectKey) return again
      const source = { accountId: job.accountId, objectKey: stored.objectKey }
      await copyObject(env.MEDIA, database, source, (begun) => writers.push(begun))
      return writers[0] ? withCopy(again, stored, writers[0]) : again
    })
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
function draftAgain({ job, tasks, files }: Snapshot, inputs: Input[]): JobDraft {
  const id = newId()
  const facts: JobFacts = { ...job, now: Date.now(), retryOf: job.id }
  const toCome = tasks
    .flatMap(({ work }) => ("outputs" in work ? work.outputs : []))
    .map(({ key, name }) => makeFileToCome(facts, { jobId: id, outputKey: key, name }))
  function fileAgain({ fileId }: Input): string {
    const own = files.find((file) => file.id === fileId)
    if (!own) return fileId
    return toCome.find((file) => file.outputKey === own.outputKey)?.id ?? id
  }
  function taskAgain(task: Task) {
    const own = inputs.filter((input) => input.taskId === task.id)
    return makeTask(facts, {
      jobId: id,
      work: task.work,
      inputs: own.map((input) => ({ key: input.key, fileId: fileAgain(input) })),
      blocked: own.some(({ file }) => file !== null && !isFinal(file.state)),
    })
  }
  return {
    job: makeJob(facts, { id, kind: job.kind, request: job.request }),
    tasks: tasks.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(taskAgain),
    files: toCome,
  }
}

function withCopy(draft: JobDraft, file: File, { upload }: PartWriter): JobDraft {
  const { name, contentType, sizeBytes, source, accountId } = file
  const { id, createdAt } = draft.job
  const stored = { name, contentType, sizeBytes, source, accountId, createdAt }
  const copy = { ...stored, id, jobId: id, state: "waiting" as const, objectKey: upload.objectKey }
  return { ...draft, files: [...draft.files, copy], uploadId: upload.id }
}
