import type { Env } from "../../env.ts"
import { copyObject } from "../../storage/copy-object.ts"
import { databaseOf } from "../../storage/database.ts"
import type { Idempotency } from "../../storage/idempotency.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"
import type { PartWriter } from "../../storage/part-writer.ts"
import { spaceOf } from "../../storage/state-disk.ts"
import type { File } from "../../storage/schema/files.ts"
import type { Job } from "../../storage/schema/jobs.ts"
import { withFiles } from "../../storage/tasks.ts"
import { readSnapshot } from "../../storage/transitions.ts"
import { hydrateSnapshot } from "../../storage/hydrate.ts"
import { abandonWriter } from "../uploads/abandon.ts"
import { draftAgain, isGone } from "./draft-again.ts"
import { acceptJob, findAccepted, findExceeded } from "./create.ts"
import type { Accepted, BackgroundContext, Creating } from "./create.ts"

/**
 * Makes a new job of the request of one that is over; `gone` names inputs that no longer exist,
 * `full` is a disk without room for a copy of the job's own file.
 */
export async function retryJob(
  env: Env,
  ctx: BackgroundContext,
  job: Job,
  { once, creating }: { once: Idempotency | null; creating: Creating },
): Promise<Accepted | { gone: string[] } | "full"> {
  const database = databaseOf(env, job.accountId)
  const earlier = once && (await findAccepted(database, once))
  if (earlier) return earlier
  const read = (await readSnapshot(database, job.id)) ?? { job, tasks: [], files: [], inputs: [] }
  const before = await hydrateSnapshot(env.MEDIA, read)
  const inputs = await withFiles(database, before.inputs)
  const gone = inputs.filter((input) => isGone(input, before)).map(({ key }) => key)
  if (gone.length > 0) return { gone: [...new Set(gone)] }
  const stored = before.files.find(
    ({ id, objectKey, source }) => id === job.id && objectKey !== null && source !== "import",
  )
  const writers: PartWriter[] = []
  let accepted: Accepted | null = null
  try {
    const again = draftAgain(before, inputs)
    if (stored?.objectKey) {
      const exceeded = await findExceeded(database, creating.limits, again, stored)
      if (exceeded) return { exceeded }
      const source = { sourceKey: stored.objectKey, holdSpace: spaceOf(env) }
      const isCopied = await copyObject(env.MEDIA, database, source, (begun) => writers.push(begun))
      if (!isCopied) return "full"
    }
    const draft = stored && writers[0] ? withCopy(again, stored, writers[0]) : again
    accepted = await acceptJob(env, ctx, { database, creating }, { ...draft, once })
    return accepted
  } finally {
    const isMade = isNew(accepted)
    for (const writer of isMade ? [] : writers) await abandonWriter(env, writer)
  }
}

function isNew(accepted: Accepted | null): boolean {
  return accepted instanceof Object && "jobId" in accepted && !accepted.replayed
}

function withCopy(draft: JobDraft, file: File, { upload }: PartWriter): JobDraft {
  const { name, contentType, sizeBytes, sha256, source } = file
  const { id, createdAt } = draft.job
  const stored = { name, contentType, sizeBytes, sha256, source, createdAt }
  const copy = { ...stored, id, jobId: id, state: "waiting" as const, objectKey: upload.objectKey }
  return { ...draft, files: [...draft.files, copy], uploadId: upload.id }
}
