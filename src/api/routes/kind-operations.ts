import { z } from "zod"
import { getRetention } from "../../bindings/env.ts"
import { jobRecordSchema } from "../../kinds/job-record.ts"
import { buildJobRecordOfAnyKind } from "../../kinds/registry.ts"
import type { CommonRequestFields, JsonKind } from "../../kinds/kind.ts"
import { fileIdsFieldSchema, findStatesByStatus } from "../../kinds/shared-record-fields.ts"
import { deleteJob } from "../../jobs/remove.ts"
import { readProgress, awaitJobEnd } from "../../jobs/wait.ts"
import type { Progress } from "../../domain/progress.ts"
import { listJobs } from "../../db/jobs/jobs.ts"
import type { Job } from "../../db/schema/jobs.ts"
import { hydrateJob, hydrateListedJobs } from "../../db/values/hydrate.ts"
import {
  anyObjectSchema,
  readJsonBody,
  getBaseUrl,
  findIdempotencyKeyFaults,
  readPreferredWaitMs,
} from "../input/request.ts"
import {
  makeCollectionOperations,
  resourceUrl,
  toPascalCase,
  statusFilterSchema,
  prefixIndefiniteArticle,
} from "../output/collection.ts"
import { readValidationContext } from "../../jobs/validation-context.ts"
import { validateCreateRequest } from "../input/accept.ts"
import type { CreatedJob } from "../input/accept.ts"
import { metadataFilterSchema } from "../input/query.ts"
import { makeFormSchema } from "../input/form-fields.ts"
import { toJobFormProblem } from "../input/job-form.ts"
import { makeJobCreationHandler } from "../input/create-handler.ts"
import { LIMIT_PROBLEM_CODES } from "../output/limit-problem.ts"
import { emptyQuerySchema, defineOperation } from "../output/operation.ts"
import type { Operation } from "../output/operation.ts"
import { truncateFaults, withDefaultFaultCode } from "../output/problem.ts"
import type { AppContext } from "../context.ts"
import { chooseDatabasesForLists, chooseJobReplica } from "../middleware/replica.ts"

type KindDescription = Pick<JsonKind, "title" | "respondsWithJob" | "isJobForm">

const faultRecord = z.object({
  field: z.string(),
  code: z.string(),
  message: z.string(),
  option: z.string().optional(),
})

/**
 * Returns the operations of a job kind: create, list, get, delete and validate. A kind that always
 * responds with a Job (`isJobForm`) has just the create operation; callers read its jobs at /jobs.
 */
export function makeKindOperations<
  Input extends CommonRequestFields,
  Usable,
  RecordSchema extends z.ZodObject,
>(kind: JsonKind<Input, Usable, RecordSchema>): Operation[] {
  const { name, path, title, record, respondsWithJob = false, isJobForm = false } = kind
  const { showsRequest = false } = kind
  function view(c: AppContext, job: Job, progress: Progress | null): z.output<RecordSchema> {
    return kind.view(getBaseUrl(c), { job, files: [] }, progress, getRetention(c.env))
  }
  async function hydrate(c: AppContext, job: Job): Promise<Job> {
    return await hydrateJob(c.env.MEDIA, job)
  }
  async function find(
    c: AppContext,
    id: string,
    waitMs: number | null,
    isNew = false,
  ): Promise<Job | null> {
    const replica = chooseJobReplica(c, id)
    const query = { accountId: c.get("account").id, jobId: id, isNew, replica }
    const job = await awaitJobEnd(c.env, query, waitMs)
    return job?.kind === name ? job : null
  }
  const showsJob = respondsWithJob || isJobForm
  const create = createOperation(kind, async (c, { jobId, replayed }, waitMs) => {
    if (waitMs === null && !showsJob) return {}
    const job = await find(c, jobId, waitMs, !replayed)
    if (!job) return {}
    const progress = await readProgress(c.env, job)
    const shown = await hydrate(c, job)
    return {
      ...(waitMs !== null && !isJobForm && view(c, shown, progress)),
      ...(showsJob && buildJobRecordOfAnyKind(getBaseUrl(c), shown, progress)),
    }
  })
  if (isJobForm) return [create]
  const others = makeCollectionOperations({
    path,
    title,
    record,
    filters: z.object({ status: statusFilterSchema, metadata: metadataFilterSchema }),
    list: async (c, { status, metadata: pair }, page) => {
      const states = status && findStatesByStatus(status)
      const request = showsRequest ? "short" : undefined
      const database = chooseDatabasesForLists(c)
      const jobs = await listJobs(database, { kind: name, states, pair, request }, page)
      return await hydrateListedJobs(c.env.MEDIA, jobs, { request: !showsRequest })
    },
    idOf: (job) => job.id,
    jobOf: (job) => job,
    find,
    hydrate,
    view,
    remove: async (c, job) => await deleteJob(c.env, c.executionCtx, job.accountId, job.id),
  })
  return [create, ...others, ...(kind.preview ? [validateOperation(kind, kind.preview)] : [])]
}

function createOperation<
  Input extends CommonRequestFields,
  Usable,
  RecordSchema extends z.ZodObject,
>(
  kind: JsonKind<Input, Usable, RecordSchema>,
  show: (c: AppContext, created: CreatedJob, waitMs: number | null) => Promise<object>,
): Operation {
  const { path, title, idField, uploadField, isJobForm = false } = kind
  const accept = makeJobCreationHandler(kind)
  return defineOperation({
    method: "post",
    path: `/${path}`,
    operationId: `create${toPascalCase(title)}`,
    summary: `Create ${prefixIndefiniteArticle(title)}`,
    tag: path,
    isJobForm,
    query: emptyQuerySchema,
    mapProblem: async (c, problem) => await toJobFormProblem(c, kind, problem),
    headers: ["Idempotency-Key", "Prefer"],
    bodies: {
      "application/json": { schema: kind.request, example: kind.example },
      ...(uploadField !== undefined && {
        "multipart/form-data": {
          schema: makeFormSchema(kind.request, uploadField).meta({
            id: `${toPascalCase(title)}Form`,
          }),
          example: { file: "(the bytes)" },
        },
      }),
    },
    answer: {
      status: 202,
      description: describeAnswer(kind),
      schema: acceptedSchema(kind),
      headers: { Location: "URL of the record." },
    },
    errors: [
      "idempotency_conflict",
      ...LIMIT_PROBLEM_CODES,
      "payload_too_large",
      "request_timeout",
      "tool_missing",
      ...(uploadField === undefined ? [] : (["too_many_uploads"] as const)),
      "unsupported_media_type",
    ],
    async handle(c) {
      const created = await accept(c)
      const { jobId, fileIds } = created
      const fields = await show(c, created, readPreferredWaitMs(c))
      const headers = { location: resourceUrl(c, isJobForm ? { path: "jobs" } : kind, jobId) }
      return {
        body: { [idField]: jobId, ...(fileIds && { file_ids: fileIds }), ...fields },
        headers,
      }
    },
  })
}

function describeAnswer({ title, respondsWithJob, isJobForm }: KindDescription): string {
  if (isJobForm) return "The Job."
  return respondsWithJob
    ? `The id of the ${title} and its Job; with \`Prefer\`, also the other fields of its record.`
    : `The id of the ${title}; with \`Prefer\`, also its record.`
}

/**
 * Returns the schema of the response to a create request. If the response is also a Job, a field
 * that both records have is that of the Job.
 */
function acceptedSchema<
  Input extends CommonRequestFields,
  Usable,
  RecordSchema extends z.ZodObject,
>(kind: JsonKind<Input, Usable, RecordSchema>): z.ZodType<Record<string, unknown>> {
  if (kind.isJobForm) return jobRecordSchema
  const makesFiles = "file_ids" in kind.record.shape
  const idShape = { [kind.idField]: z.uuid(), ...(makesFiles && fileIdsFieldSchema) }
  if (!kind.respondsWithJob) return z.looseObject(idShape)
  const ofRecord: z.ZodRawShape = kind.record.partial().shape
  return z
    .looseObject({ ...idShape, ...ofRecord, ...jobRecordSchema.shape })
    .meta({ id: `Accepted${toPascalCase(kind.title)}` })
}

function validateOperation<Input extends CommonRequestFields, Usable>(
  kind: JsonKind<Input, Usable>,
  preview: NonNullable<JsonKind<Input, Usable>["preview"]>,
): Operation {
  const { path, title } = kind
  const name = toPascalCase(title)
  const anyBody = anyObjectSchema.meta({ description: `A body of POST /${path}, valid or not.` })
  const validation: z.ZodType<Record<string, unknown>> = z
    .looseObject({ valid: z.boolean(), ...preview.schema.shape, errors: z.array(faultRecord) })
    .meta({ id: `${name}Validation` })
  return defineOperation({
    method: "post",
    path: `/${path}/validate`,
    scope: "read",
    operationId: `validate${name}`,
    summary: `Check ${prefixIndefiniteArticle(title)} without creating it`,
    tag: path,
    query: emptyQuerySchema,
    headers: ["Idempotency-Key"],
    bodies: { "application/json": { schema: anyBody, example: kind.example } },
    answer: {
      status: 200,
      description: `The work of the ${title}, and every error.`,
      schema: validation,
    },
    errors: ["payload_too_large", "request_timeout", "unsupported_media_type"],
    async handle(c) {
      const body = await readJsonBody(c, anyObjectSchema)
      const { faults, inputs } = await validateCreateRequest(c, kind, { body })
      const errors = truncateFaults([...findIdempotencyKeyFaults(c), ...faults]).map(
        withDefaultFaultCode,
      )
      const fields = preview.show(
        kind.readUsableFields(body),
        inputs,
        await readValidationContext(c.env),
      )
      return { body: { valid: errors.length === 0, ...fields, errors } }
    },
  })
}
