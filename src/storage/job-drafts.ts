import { getTableColumns } from "drizzle-orm"
import { z } from "zod"
import type { TaskSecrets, TaskWork } from "../contract/task.ts"
import { hasKeyShape } from "../crypto/api-key.ts"
import { newId } from "../ids.ts"
import { admittedAccountId } from "./account-limits.ts"
import type { CreateLimits, Demand } from "./account-limits.ts"
import { groupRows, runBatch } from "./database.ts"
import type { AccountDatabase, Statement } from "./database.ts"
import { insertIdempotency } from "./idempotency.ts"
import type { Idempotency } from "./idempotency.ts"
import { files } from "./schema/files.ts"
import type { File } from "./schema/files.ts"
import type { FileWithJob } from "./files.ts"
import { jobs } from "./schema/jobs.ts"
import type { Job } from "./schema/jobs.ts"
import { insertLookup } from "./metadata-lookups.ts"
import type { NewLookup } from "./metadata-lookups.ts"
import { isFinal } from "./schema/states.ts"
import type { FileSource, WebhookForm } from "./schema/states.ts"
import { taskInputs, tasks } from "./schema/tasks.ts"
import type { Upload } from "./schema/uploads.ts"
import { insertSecrets, sealSecrets } from "./task-secrets.ts"
import { takeUploads } from "./uploads.ts"
import { countJob } from "./usage.ts"

type NewRow<Row extends { accountId: string }> = Omit<Row, "accountId">

/** A task to come, and its pool; `blocked` where an input of it is still on its way. */
export type TaskDraft = {
  pool: string
  task: NewRow<typeof tasks.$inferInsert>
  inputs: { key: string; fileId: string; awaitsProbe?: boolean }[]
  blocked: boolean
  /** What its runner is told beside its work, and nobody is ever shown. */
  secrets?: TaskSecrets | null
  /** The same as it is stored. */
  sealedSecrets?: string
}

/** All that one accepted request writes: its job, the tasks, the files to come, the upload it uses. */
export type JobDraft = {
  job: NewRow<typeof jobs.$inferInsert>
  tasks: TaskDraft[]
  files: NewRow<typeof files.$inferInsert>[]
  uploadId?: string
  /** Its large values, which are its own once it is written. */
  valueUploads?: Pick<Upload, "id">[]
  /** What lets the request be sent again without a second job. */
  once?: Idempotency | null
  /** The lookup that it is the answer of. */
  lookup?: NewLookup
}

/** What every job is made of, whatever its kind. */
export type JobFacts = {
  /** Under which origin the caller knows the service. */
  origin: string
  now: number
  priority: number
  metadata: Record<string, string> | null
  webhookUrl: string | null
  webhookForm: WebhookForm
  /** How long after its end it is kept; as long as the operator's settings say where left out. */
  retentionMs?: number | null
  retryOf?: string
}

/** Fields of requests that are columns of their jobs. */
const COLUMN_FIELDS = new Set(["webhook", "webhook_url", "metadata", "priority", "expires_in"])

/** The row of a new job. */
export function draftJob(facts: JobFacts, made: { id: string; kind: string; request: unknown }) {
  const { origin, priority, metadata, webhookUrl, webhookForm, retentionMs, retryOf = null } = facts
  return {
    ...made,
    request: keptRequest(made.request),
    origin,
    priority,
    metadata,
    webhookUrl,
    webhookForm,
    retentionMs: retentionMs ?? null,
    retryOf,
    state: "waiting" as const,
    version: 0,
    createdAt: facts.now,
  }
}

/** The rows of a new task; `blocked` says whether an input is still on its way. */
export function draftTask(
  facts: JobFacts,
  made: { id?: string; jobId: string; work: TaskWork; weight?: number } & Omit<TaskDraft, "task">,
): TaskDraft {
  const { id = newId(), jobId, work, weight = 1, ...planned } = made
  const { priority, now: createdAt } = facts
  const { pool } = planned
  const state = "waiting" as const
  return { ...planned, task: { id, jobId, state, priority, weight, pool, work, createdAt } }
}

/**
 * The inputs of a task, which is blocked while a file of them is still on its way: one that an earlier
 * job makes, or one that the task's own job brings in first (`source`), its probe included.
 */
export function draftInputs(
  inputs: {
    key: string
    fileId: string
    file: File | null
    source?: object
    awaitsProbe?: boolean
  }[],
): Pick<TaskDraft, "inputs" | "blocked"> {
  return {
    inputs: inputs.map(({ key, fileId, source, awaitsProbe = source !== undefined }) => {
      return { key, fileId, awaitsProbe }
    }),
    blocked: inputs.some(
      ({ file, source }) => source !== undefined || (file !== null && !isFinal(file.state)),
    ),
  }
}

/** The row of a file that a job is to make. */
export function draftOutput(
  facts: JobFacts,
  made: { jobId: string; outputKey: string; name: string; source?: FileSource },
) {
  return {
    source: "output" as const,
    ...made,
    id: newId(),
    state: "waiting" as const,
    createdAt: facts.now,
  }
}

/**
 * A request as it may be kept and shown again: fields that are columns of its job are left out, and an
 * API key in it, as in `?key=`, is taken out.
 */
function keptRequest(request: unknown): unknown {
  const fields = request instanceof Object ? Object.entries(request) : []
  const kept = fields.filter(([name]) => !COLUMN_FIELDS.has(name))
  const text = JSON.stringify(Object.fromEntries(kept))
  return JSON.parse(
    text.replace(/lathe_[0-9A-Za-z]{40}/g, (key) => (hasKeyShape(key) ? "lathe_redacted" : key)),
  )
}

/** A draft whose secrets are encrypted under the secret of the service. */
export async function sealDraft(serviceSecret: string, draft: JobDraft): Promise<JobDraft> {
  const tasks = draft.tasks.map(async (made): Promise<TaskDraft> => {
    if (!made.secrets) return made
    const sealedSecrets = await sealSecrets(serviceSecret, made.task.id, made.secrets)
    return { ...made, secrets: null, sealedSecrets }
  })
  return { ...draft, tasks: await Promise.all(tasks) }
}

/** Columns of a row of `files` that a draft may set. */
const FILE_COLUMNS = 20

/** By which key and request a job is created. */
export type Creator = { keyId: string | null; requestId: string | null }

/** What a job adds to the use of its account, and within which limits it may. */
export type Admission = { limits: CreateLimits; demand: Demand }

const NOBODY: Creator & { admission: null } = { keyId: null, requestId: null, admission: null }

/**
 * Writes a draft in one batch, which fails where the job would exceed a limit (`isNotAdmitted`). One
 * without an admission has no limits, and nothing counts it.
 */
export async function createJob(
  database: AccountDatabase,
  draft: JobDraft,
  creation: Creator & { admission: Admission | null } = NOBODY,
): Promise<void> {
  const { accountId, sql } = database
  const { id: jobId, createdAt } = draft.job
  const inputs = draft.tasks.flatMap((made) =>
    made.inputs.map((input) => ({ taskId: made.task.id, ...input })),
  )
  const newFiles = draft.files.map((file) => ({ ...file, accountId }))
  const statements: Statement[] = [
    ...(draft.once ? insertIdempotency(database, draft.once, { jobId, createdAt }) : []),
    ...insertJob(database, draft.job, creation),
    ...draft.tasks.map(({ task }) => sql.insert(tasks).values({ ...task, accountId })),
    ...groupRows(inputs, 4).map((rows) => sql.insert(taskInputs).values(rows)),
    ...groupRows(newFiles, FILE_COLUMNS).map((rows) => sql.insert(files).values(rows)),
    ...draft.tasks.flatMap(({ task, secrets, sealedSecrets: sealed }) => {
      if (secrets) throw new Error("the secrets of a task are not sealed")
      return sealed === undefined ? [] : insertSecrets(database, { taskId: task.id, jobId, sealed })
    }),
    ...(draft.lookup ? insertLookup(database, draft.lookup, { jobId, createdAt }) : []),
  ]
  const taken = [draft.uploadId ?? [], (draft.valueUploads ?? []).map(({ id }) => id)].flat()
  await runBatch(sql, [...statements, ...takeUploads(database, taken)])
}

const fileRow = z.custom<File>()
const jobRow = z.custom<Job>()

/** The file of a draft that brings one in, and its job, as `createJob` writes them. */
export function draftedFile(
  accountId: string,
  { job, files: [file] }: JobDraft,
  creator: Creator,
): FileWithJob | null {
  if (!file) return null
  return {
    file: fileRow.parse({ ...emptyRow(getTableColumns(files)), ...file, accountId }),
    job: jobRow.parse({ ...emptyRow(getTableColumns(jobs)), ...job, ...creator, accountId }),
    expiresAt: null,
  }
}

/** A row of which nothing was set. */
function emptyRow(columns: Record<string, { default: unknown }>): Record<string, unknown> {
  const entries = Object.entries(columns)
  return Object.fromEntries(
    entries.map(([name, column]) => [name, column.default ?? null] as const),
  )
}

/** The row of a job, which admits it, and its place in what the account used that day. */
function insertJob(
  database: AccountDatabase,
  job: JobDraft["job"],
  { keyId, requestId, admission }: Creator & { admission: Admission | null },
): Statement[] {
  const { accountId, sql } = database
  const row = { ...job, keyId, requestId }
  if (!admission) return [sql.insert(jobs).values({ ...row, accountId })]
  const { limits, demand } = admission
  const { day, fetches } = demand
  return [
    sql.insert(jobs).values({ ...row, accountId: admittedAccountId(accountId, limits, demand) }),
    countJob(database, { day, keyId, fetches }),
  ]
}
