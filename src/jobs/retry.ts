import type { Env } from "../bindings/env.ts"
import { copyObject } from "../objects/copy-object.ts"
import { openDatabases } from "../db/database.ts"
import type { Idempotency } from "../domain/job-draft.ts"
import type { JobDraft } from "../domain/job-draft.ts"
import type { Fault } from "../domain/faults.ts"
import type { PartWriter } from "../objects/part-writer.ts"
import { makeSpaceReserver } from "../bindings/storage-disk.ts"
import type { File } from "../db/schema/files.ts"
import type { Job } from "../db/schema/jobs.ts"
import { attachFilesToInputs } from "../db/jobs/tasks.ts"
import { readSnapshot } from "../db/jobs/apply-transition.ts"
import { hydrateSnapshot } from "../db/values/hydrate.ts"
import { abandonPartWriter } from "../objects/abandon-upload.ts"
import { draftRetry, isInputGone } from "./draft-retry.ts"
import { assignRetryHeaders } from "./retry-headers.ts"
import type { RetryHeaders } from "./retry-headers.ts"
import { acceptJob, findAcceptedJob, findExceededLimit } from "./create.ts"
import type { JobAcceptance, BackgroundContext, JobCreatorWithLimits } from "./create.ts"

/**
 * Creates a new job from the request of a finished job. `gone` lists the keys of inputs that no
 * longer exist. `full` means that the disk has no room for a copy of the job's own file.
 */
export async function retryJob(
  env: Env,
  ctx: BackgroundContext,
  job: Job,
  {
    once,
    creating,
    headers: given,
  }: { once: Idempotency | null; creating: JobCreatorWithLimits; headers: RetryHeaders },
): Promise<JobAcceptance | { gone: string[] } | { faults: Fault[] } | "full"> {
  const database = openDatabases(env, job.accountId)
  const earlier = once && (await findAcceptedJob(database, once))
  if (earlier) return earlier
  const read = (await readSnapshot(database, job.id)) ?? {
    job,
    tasks: [],
    files: [],
    inputs: [],
    endpoints: [],
  }
  const before = await hydrateSnapshot(env.MEDIA, read)
  const inputs = await attachFilesToInputs(database, before.inputs)
  const goneKeys = inputs.filter((input) => isInputGone(input, before)).map(({ key }) => key)
  if (goneKeys.length > 0) return { gone: [...new Set(goneKeys)] }
  const matched = assignRetryHeaders(before, given)
  if ("faults" in matched) return matched
  const ownFile = before.files.find(
    ({ id, objectKey, source }) => id === job.id && objectKey !== null && source !== "import",
  )
  const writers: PartWriter[] = []
  let accepted: JobAcceptance | null = null
  try {
    const newDraft = draftRetry(before, inputs, matched.headers)
    if (ownFile?.objectKey) {
      const exceeded = await findExceededLimit(database, creating.limits, newDraft, ownFile)
      if (exceeded) return { exceeded }
      const source = { sourceKey: ownFile.objectKey, holdSpace: makeSpaceReserver(env) }
      const isCopied = await copyObject(env.MEDIA, database, source, (writer) =>
        writers.push(writer),
      )
      if (!isCopied) return "full"
    }
    const draft = ownFile && writers[0] ? withCopy(newDraft, ownFile, writers[0]) : newDraft
    accepted = await acceptJob(env, ctx, { database, creating }, { ...draft, once })
    return accepted
  } finally {
    const isMade = isNew(accepted)
    for (const writer of isMade ? [] : writers) await abandonPartWriter(env, writer)
  }
}

function isNew(accepted: JobAcceptance | null): boolean {
  return accepted instanceof Object && "jobId" in accepted && !accepted.replayed
}

function withCopy(draft: JobDraft, file: File, { upload }: PartWriter): JobDraft {
  const { name, contentType, sizeBytes, sha256, source } = file
  const { id, createdAt } = draft.job
  const facts = { name, contentType, sizeBytes, sha256, source, createdAt }
  const copy = { ...facts, id, jobId: id, state: "waiting" as const, objectKey: upload.objectKey }
  return { ...draft, files: [...draft.files, copy], uploadId: upload.id }
}
