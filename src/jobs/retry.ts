import type { Env } from "../bindings/env.ts"
import { copyObject } from "../objects/copy-object.ts"
import type { AccountDatabase } from "../db/database.ts"
import type { NewBatch } from "../db/batches.ts"
import type { IdempotencyKeyUse, JobDraft } from "../domain/job-draft.ts"
import type { Fault } from "../domain/faults.ts"
import type { PartWriter } from "../objects/part-writer.ts"
import { makeDiskSpaceReserver } from "../bindings/storage-disk.ts"
import { toFileRow } from "../db/jobs/create-job.ts"
import type { File } from "../db/schema/files.ts"
import type { Job } from "../db/schema/jobs.ts"
import { attachFilesToInputs } from "../db/jobs/tasks.ts"
import { readJobSnapshot } from "../db/jobs/apply-transition.ts"
import { hydrateSnapshot } from "../db/values/hydrate.ts"
import { getKind } from "../kinds/registry.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"
import { abandonPartWriter } from "../objects/abandon-upload.ts"
import { draftRetry, isRetryInputGone } from "./draft-retry.ts"
import { assignRetryHeaders } from "./retry-headers.ts"
import type { RetryHeaders } from "./retry-headers.ts"
import { acceptJobs, findAcceptedJob, findExceededLimit } from "./create.ts"
import type { AcceptedJob, BackgroundContext, JobCreatorWithLimits } from "./create.ts"
import type { ExceededLimit } from "../db/accounts/account-limits.ts"

/**
 * Request that repeats finished jobs. The jobs are sorted so that each follows the jobs whose
 * outputs it reads.
 */
export type RetryRequest = {
  jobs: readonly Job[]
  once: IdempotencyKeyUse | null
  creating: JobCreatorWithLimits
  /** HTTP headers with which the inputs of the first job are downloaded again. */
  headers: RetryHeaders
  /** Batch that the new jobs form; null for jobs without a batch. */
  batch: NewBatch | null
}

/**
 * Job that cannot be repeated. `refusal` is the reason if no job of its kind can be repeated.
 * `gone` lists the inputs that no longer exist: `file` is null for a deleted file, and the row of
 * the file if its job ended without writing it.
 */
type UnrepeatableJob =
  | { job: Job; refusal: string }
  | { job: Job; gone: { key: string; file: File | null }[] }

/**
 * Outcome of a retry: the accepted jobs in the order of the jobs that they repeat, or the reason
 * why no job was created. `full` means that the disk has no room for a copy of the uploaded file
 * for which a job was created.
 */
export type RetryOutcome =
  | (AcceptedJob & { newJobIds: string[] })
  | "conflict"
  | { exceeded: ExceededLimit }
  | UnrepeatableJob
  | { faults: Fault[] }
  | "full"

/**
 * Creates new jobs from the requests of finished jobs, either all or none. If job B read an output
 * of job A and both are repeated, the new B reads the output of the new A.
 */
export async function retryJobs(
  env: Env,
  ctx: BackgroundContext,
  database: AccountDatabase,
  { jobs, once, creating, headers, batch }: RetryRequest,
): Promise<RetryOutcome> {
  const earlier = once && (await findAcceptedJob(database, once))
  if (earlier) return earlier === "conflict" ? earlier : { ...earlier, newJobIds: [] }
  const drafts: JobDraft[] = []
  const writers: PartWriter[] = []
  const replaced = new ReplacedFiles(database.accountId)
  let isMade = false
  try {
    for (const [at, job] of jobs.entries()) {
      const repeat = { job, headers: at === 0 ? headers : {}, creating }
      const drafted = await draftOne(env, database, repeat, { replaced, writers })
      if (drafted === "full" || !("draft" in drafted)) return drafted
      const { draft } = drafted
      const name = batch ? { batchId: batch.id, batchName: job.batchName } : {}
      drafts.push({ ...draft, job: { ...draft.job, ...name } })
    }
    const accepted = await acceptJobs(env, ctx, { database, creating }, { drafts, batch, once })
    if (accepted === "conflict" || "exceeded" in accepted) return accepted
    isMade = !accepted.replayed
    const { drafts: made, ...created } = accepted
    const fileIds = created.fileIds ?? made[0]?.job.fileIds ?? null
    return { ...created, fileIds, newJobIds: made.map(({ job }) => job.id) }
  } finally {
    for (const writer of isMade ? [] : writers) await abandonPartWriter(env, writer)
  }
}

async function draftOne(
  env: Env,
  database: AccountDatabase,
  { job, headers, creating }: { job: Job; headers: RetryHeaders; creating: JobCreatorWithLimits },
  { replaced, writers }: { replaced: ReplacedFiles; writers: PartWriter[] },
): Promise<{ draft: JobDraft } | Exclude<RetryOutcome, AcceptedJob | "conflict">> {
  const read = (await readJobSnapshot(database, job.id)) ?? withoutRows(job)
  const before = await hydrateSnapshot(env.MEDIA, read)
  const refusal = getKind(job.kind).refuseRetry?.(before.job.request) ?? null
  if (refusal !== null) return { job, refusal }
  const inputs = (await attachFilesToInputs(database, before.inputs)).map((input) => {
    const file = replaced.find(input.fileId)
    return file ? { ...input, fileId: file.id, file } : input
  })
  const gone = inputs.filter((input) => isRetryInputGone(input, before))
  if (gone.length > 0)
    return { job, gone: [...new Map(gone.map((each) => [each.key, each])).values()] }
  const matched = assignRetryHeaders(before, headers)
  if ("faults" in matched) return matched
  const draft = draftRetry(before, inputs, matched.headers, replaced.ids)
  replaced.add(before, draft)
  const ownFile = before.files.find(
    ({ id, objectKey, source }) => id === job.id && objectKey !== null && source !== "import",
  )
  if (!ownFile?.objectKey) return { draft }
  const exceeded = await findExceededLimit(database, creating.limits, draft, ownFile)
  if (exceeded) return { exceeded }
  const source = { sourceKey: ownFile.objectKey, holdSpace: makeDiskSpaceReserver(env) }
  let copy: PartWriter | null = null
  const isCopied = await copyObject(env.MEDIA, database, source, (writer) => {
    copy = writer
    writers.push(writer)
  })
  if (!isCopied || !copy) return "full"
  return { draft: withCopy(draft, ownFile, copy) }
}

function withoutRows(job: Job): JobSnapshot {
  return { job, tasks: [], files: [], inputs: [], endpoints: [] }
}

/** Map from the files of repeated jobs to the files that the new jobs will write in their place. */
class ReplacedFiles {
  /** New ids of jobs and files, by the ids of the jobs and files that they replace. */
  readonly ids = new Map<string, string>()
  readonly #files = new Map<string, File>()
  readonly #accountId: string

  constructor(accountId: string) {
    this.#accountId = accountId
  }

  /** Returns the file that replaces a file in the retry; null if the retry uses the same file. */
  find(fileId: string): File | null {
    return this.#files.get(fileId) ?? null
  }

  /** Adds the files of a repeated job that the new job will write again. */
  add({ job, files }: JobSnapshot, draft: JobDraft): void {
    this.ids.set(job.id, draft.job.id)
    // Uses the file ids that are stored in the job's row, because a deleted output no longer has a
    // row of its own.
    for (const [key, id] of Object.entries(job.fileIds ?? {})) {
      this.#replace(
        id,
        draft.files.find(({ outputKey }) => outputKey === key),
      )
    }
    for (const file of files) {
      const again = draft.files.find((drafted) => {
        if (file.id === job.id) return drafted.id === draft.job.id
        if (file.outputKey !== null) return drafted.outputKey === file.outputKey
        return file.sourceUrl !== null && drafted.sourceUrl === file.sourceUrl
      })
      this.#replace(file.id, again)
    }
  }

  #replace(id: string, again: JobDraft["files"][number] | undefined): void {
    if (!again) return
    this.ids.set(id, again.id)
    this.#files.set(id, toFileRow(this.#accountId, again))
  }
}

function withCopy(draft: JobDraft, file: File, { upload }: PartWriter): JobDraft {
  const { name, contentType, sizeBytes, sha256, source } = file
  const { id, createdAt } = draft.job
  const facts = { name, contentType, sizeBytes, sha256, source, createdAt }
  const copy = { ...facts, id, jobId: id, state: "waiting" as const, objectKey: upload.objectKey }
  return { ...draft, files: [...draft.files, copy], uploadId: upload.id }
}
