import { z } from "zod"
import { retentionOf } from "../env.ts"
import { jobRecord } from "../kinds/job-record.ts"
import { viewJob } from "../kinds/registry.ts"
import type { CreateRequest, JsonKind } from "../kinds/kind.ts"
import { statesOf } from "../kinds/record-fields.ts"
import { deleteJob } from "../pipeline/jobs/delete.ts"
import { progressOf, awaitEnd } from "../pipeline/jobs/wait.ts"
import type { Progress } from "../rpc.ts"
import { listJobs } from "../storage/jobs.ts"
import type { Job } from "../storage/schema/jobs.ts"
import { hydrateJob, hydrateListed } from "../storage/hydrate.ts"
import { anyObject, readJson, baseUrl, idempotencyKeyFaults, preferredWaitMs } from "./request.ts"
import { collectionOperations, locationOf, nameOf, statusFilter } from "./collection.ts"
import { judgeBody, judgeFacts } from "./creates.ts"
import type { Created } from "./creates.ts"
import { formSchema } from "./form-fields.ts"
import { tellByForm } from "./job-form.ts"
import { createsOf } from "./kind-creates.ts"
import { LIMIT_PROBLEMS } from "./limit-problem.ts"
import { NO_QUERY, operation } from "./operation.ts"
import type { Operation } from "./operation.ts"
import { toldFaults, withCode } from "./problem.ts"
import type { AppContext } from "./request.ts"
import { listDatabase, replicaFor } from "./replica.ts"

type Described = Pick<JsonKind, "title" | "answersJob" | "isJobForm">

const faultRecord = z.object({
  field: z.string(),
  code: z.string(),
  message: z.string(),
  option: z.string().optional(),
})

/**
 * The operations of a kind whose create takes JSON: POST, list, GET, DELETE, and validation; of one in
 * the Job form alone POST, since its jobs are among those of /jobs.
 */
export function kindOperations<
  Input extends CreateRequest,
  Usable,
  RecordSchema extends z.ZodObject,
>(kind: JsonKind<Input, Usable, RecordSchema>): Operation[] {
  const { name, path, title, record, answersJob = false, isJobForm = false } = kind
  const { showsRequest = false } = kind
  function view(c: AppContext, job: Job, progress: Progress | null): z.output<RecordSchema> {
    return kind.view(baseUrl(c), { job, files: [] }, progress, retentionOf(c.env))
  }
  async function whole(c: AppContext, job: Job): Promise<Job> {
    return await hydrateJob(c.env.MEDIA, job)
  }
  async function find(
    c: AppContext,
    id: string,
    waitMs: number | null,
    isNew = false,
  ): Promise<Job | null> {
    const asked = { accountId: c.get("account").id, jobId: id, isNew, replica: replicaFor(c, id) }
    const job = await awaitEnd(c.env, asked, waitMs)
    return job?.kind === name ? job : null
  }
  const showsJob = answersJob || isJobForm
  const create = createOperation(kind, async (c, { jobId, replayed }, waitMs) => {
    if (waitMs === null && !showsJob) return {}
    const job = await find(c, jobId, waitMs, !replayed)
    if (!job) return {}
    const progress = await progressOf(c.env, job)
    return {
      ...(waitMs !== null && !isJobForm && view(c, await whole(c, job), progress)),
      ...(showsJob && viewJob(baseUrl(c), job, progress)),
    }
  })
  if (isJobForm) return [create]
  const others = collectionOperations({
    path,
    title,
    record,
    filters: z.object({ status: statusFilter }),
    list: async (c, { status }, page) => {
      const states = status && statesOf(status)
      const request = showsRequest ? "short" : undefined
      const jobs = await listJobs(listDatabase(c), { kind: name, states, request }, page)
      return await hydrateListed(c.env.MEDIA, jobs, { request: !showsRequest })
    },
    idOf: (job) => job.id,
    jobOf: (job) => job,
    find,
    whole,
    view,
    remove: async (c, job) => await deleteJob(c.env, c.executionCtx, job.accountId, job.id),
  })
  return [create, ...others, ...(kind.preview ? [validateOperation(kind, kind.preview)] : [])]
}

function createOperation<Input extends CreateRequest, Usable, RecordSchema extends z.ZodObject>(
  kind: JsonKind<Input, Usable, RecordSchema>,
  show: (c: AppContext, created: Created, waitMs: number | null) => Promise<object>,
): Operation {
  const { path, title, idField, uploadField, isJobForm = false } = kind
  const accept = createsOf(kind)
  return operation({
    method: "post",
    path: `/${path}`,
    operationId: `create${nameOf(title)}`,
    summary: `Create a ${title}`,
    tag: path,
    isJobForm,
    query: NO_QUERY,
    retell: async (c, problem) => await tellByForm(c, kind, problem),
    headers: ["Idempotency-Key", "Prefer"],
    bodies: {
      "application/json": { schema: kind.request, example: kind.example },
      ...(uploadField !== undefined && {
        "multipart/form-data": {
          schema: formSchema(kind.request, uploadField).meta({ id: `${nameOf(title)}Form` }),
          example: { file: "(the bytes)" },
        },
      }),
    },
    answer: {
      status: 202,
      description: describeAnswer(kind),
      schema: acceptedSchema(kind),
      headers: { Location: "The address of the record." },
    },
    errors: [
      "idempotency_conflict",
      ...LIMIT_PROBLEMS,
      "payload_too_large",
      "request_timeout",
      "tool_missing",
      ...(uploadField === undefined ? [] : (["too_many_uploads"] as const)),
      "unsupported_media_type",
    ],
    async handle(c) {
      const created = await accept(c)
      const { jobId } = created
      const shown = await show(c, created, preferredWaitMs(c))
      const headers = { location: locationOf(c, isJobForm ? { path: "jobs" } : kind, jobId) }
      return { body: { [idField]: jobId, ...shown }, headers }
    },
  })
}

function describeAnswer({ title, answersJob, isJobForm }: Described): string {
  if (isJobForm) return `The Job of the ${title}.`
  return answersJob
    ? `The id of the ${title} and its Job; with \`Prefer\`, the other fields of its record too.`
    : `The id of the ${title}; with \`Prefer\`, its record too.`
}

/** The answer to a create; where that is the Job too, its fields stand before those of the record. */
function acceptedSchema<Input extends CreateRequest, Usable, RecordSchema extends z.ZodObject>(
  kind: JsonKind<Input, Usable, RecordSchema>,
): z.ZodType<Record<string, unknown>> {
  if (kind.isJobForm) return jobRecord
  const named = { [kind.idField]: z.uuid() }
  if (!kind.answersJob) return z.looseObject(named)
  const ofRecord: z.ZodRawShape = kind.record.partial().shape
  return z
    .looseObject({ ...named, ...ofRecord, ...jobRecord.shape })
    .meta({ id: `Accepted${nameOf(kind.title)}` })
}

function validateOperation<Input extends CreateRequest, Usable>(
  kind: JsonKind<Input, Usable>,
  preview: NonNullable<JsonKind<Input, Usable>["preview"]>,
): Operation {
  const { path, title } = kind
  const named = nameOf(title)
  const anyBody = anyObject.meta({ description: `A body of POST /${path}, right or wrong.` })
  const validation: z.ZodType<Record<string, unknown>> = z
    .looseObject({ valid: z.boolean(), ...preview.schema.shape, errors: z.array(faultRecord) })
    .meta({ id: `${named}Validation` })
  return operation({
    method: "post",
    path: `/${path}/validate`,
    scope: "read",
    operationId: `validate${named}`,
    summary: `Say what creating a ${title} would do with a body, without doing it`,
    tag: path,
    query: NO_QUERY,
    headers: ["Idempotency-Key"],
    bodies: { "application/json": { schema: anyBody, example: kind.example } },
    answer: {
      status: 200,
      description: `What the ${title} would do, and every error.`,
      schema: validation,
    },
    errors: ["payload_too_large", "request_timeout", "unsupported_media_type"],
    async handle(c) {
      const body = await readJson(c, anyObject)
      const { faults, inputs } = await judgeBody(c, kind, { body })
      const errors = toldFaults([...idempotencyKeyFaults(c), ...faults]).map(withCode)
      const shown = preview.show(kind.readUsable(body), inputs, await judgeFacts(c))
      return { body: { valid: errors.length === 0, ...shown, errors } }
    },
  })
}
