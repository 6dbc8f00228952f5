import { z } from "zod"
import { EXAMPLE_ID } from "../../../platform/ids.ts"
import { cancelJobs, deleteBatch } from "../../../jobs/batches.ts"
import { readProgressOfJobs } from "../../../jobs/wait.ts"
import { awaitBatchEnd, followBatch } from "../../../jobs/wait-for-batch.ts"
import { listBatches } from "../../../db/batches.ts"
import type { BatchWithJobs } from "../../../domain/batch.ts"
import { hydrateListedJobs } from "../../../db/values/hydrate.ts"
import type { Progress } from "../../../domain/progress.ts"
import { isFinalState } from "../../../domain/states.ts"
import {
  batchRecordSchema,
  batchSummarySchema,
  buildBatchRecord,
  buildBatchSummary,
} from "../../../kinds/batch-record.ts"
import type { BatchRecord } from "../../../kinds/batch-record.ts"
import { BATCH_EXAMPLE, batchRequestSchema } from "../../input/batch.ts"
import { createBatch, draftBatchRow } from "../../input/create-batch.ts"
import {
  getBaseUrl,
  readIdempotencyKeyAndHash,
  readJsonBody,
  readPreferredWaitMs,
} from "../../input/request.ts"
import type { AppContext } from "../../context.ts"
import { yieldWhileAuthorized } from "../../middleware/auth.ts"
import { readPathResourceId, resourceUrl } from "../../output/collection.ts"
import { LIMIT_PROBLEM_CODES } from "../../output/limit-problem.ts"
import { emptyQuerySchema, defineOperation } from "../../output/operation.ts"
import type { Operation } from "../../output/operation.ts"
import { makeNextPageLinkHeader, pageQuerySchema, toPageRequest } from "../../output/paging.ts"
import { notFoundProblem, Problem } from "../../output/problem.ts"
import { EVENT_STREAM_HEADERS, EVENT_STREAM_MS_MAX, streamJobEvents } from "../jobs/events.ts"
import type { StreamedRecord } from "../jobs/events.ts"
import { retryJobsOrThrow } from "../jobs/retry.ts"

const BATCHES = { path: "batches", title: "batch" }

const acceptedBatch = batchRecordSchema.extend({ batch_id: z.uuid() }).meta({ id: "AcceptedBatch" })

const createErrors = [
  "idempotency_conflict",
  ...LIMIT_PROBLEM_CODES,
  "payload_too_large",
  "request_timeout",
  "tool_missing",
  "unsupported_media_type",
] as const

/** Operations of batches: jobs that one request creates together. */
export const batchOperations: Operation[] = [
  defineOperation({
    method: "post",
    path: "/batches",
    operationId: "createBatch",
    summary: "Create several jobs that may read each other's outputs, all or none",
    tag: "batches",
    query: emptyQuerySchema,
    headers: ["Idempotency-Key", "Prefer"],
    bodies: { "application/json": { schema: batchRequestSchema, example: BATCH_EXAMPLE } },
    answer: {
      status: 202,
      description: "The batch.",
      schema: acceptedBatch,
      headers: { Location: "URL of the batch." },
    },
    errors: createErrors,
    async handle(c) {
      const id = await createBatch(c, await readJsonBody(c, batchRequestSchema))
      return await answerAccepted(c, id)
    },
  }),
  defineOperation({
    method: "get",
    path: "/batches",
    operationId: "listBatches",
    summary: "List batches, newest first",
    tag: "batches",
    query: pageQuerySchema,
    answer: {
      status: 200,
      description: "A page of batches, without their jobs.",
      schema: z.array(batchSummarySchema),
      headers: { Link: "URL of the next page, if there may be one." },
    },
    example: { limit: "5" },
    async handle(c, query) {
      const page = toPageRequest(query)
      const rows = await listBatches(c.get("database"), page)
      return {
        body: rows.map(buildBatchSummary),
        headers: makeNextPageLinkHeader(c, "/batches", page, rows),
      }
    },
  }),
  defineOperation({
    method: "get",
    path: "/batches/{id}",
    operationId: "getBatch",
    summary: "Get a batch with its jobs and their outputs",
    tag: "batches",
    query: emptyQuerySchema,
    headers: ["Prefer"],
    answer: { status: 200, description: "The batch.", schema: batchRecordSchema },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    handle: async (c) => {
      const found = await findRequestedBatch(c, readPreferredWaitMs(c))
      return { body: await viewWithProgress(c, found) }
    },
  }),
  defineOperation({
    method: "delete",
    path: "/batches/{id}",
    operationId: "deleteBatch",
    summary: "Delete a batch, its jobs and everything they stored; open jobs are canceled first",
    tag: "batches",
    query: emptyQuerySchema,
    answer: { status: 200, description: "The batch is deleted.", schema: z.object({}) },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      await deleteBatch(c.env, c.executionCtx, await findRequestedBatch(c))
      return { body: {} }
    },
  }),
  defineOperation({
    method: "get",
    path: "/batches/{id}/events",
    operationId: "followBatch",
    summary: "Follow a batch to its end by the server-sent events `state` and `progress`",
    tag: "batches",
    query: emptyQuerySchema,
    headers: ["Last-Event-ID"],
    answer: {
      status: 200,
      description: "A stream of events; the data of each event is the Batch.",
      schema: null,
      mediaType: "text/event-stream",
    },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    handle: followEvents,
  }),
  defineOperation({
    method: "post",
    path: "/batches/{id}/cancel",
    operationId: "cancelBatch",
    summary: "Cancel the open jobs of a batch",
    tag: "batches",
    query: emptyQuerySchema,
    answer: { status: 200, description: "The batch.", schema: batchRecordSchema },
    errors: ["not_found", "already_final"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const { batch, jobs } = await findRequestedBatch(c)
      if ((await cancelJobs(c.env, batch.accountId, jobs)) === 0) {
        throw new Problem("already_final", "The batch has already ended and cannot be canceled.")
      }
      return { body: await viewWithProgress(c, await findRequestedBatch(c)) }
    },
  }),
  defineOperation({
    method: "post",
    path: "/batches/{id}/retry",
    operationId: "retryBatch",
    summary: "Retry the failed jobs of an ended batch as a new batch",
    tag: "batches",
    query: emptyQuerySchema,
    headers: ["Idempotency-Key", "Prefer"],
    answer: {
      status: 202,
      description: "The new batch.",
      schema: acceptedBatch,
      headers: { Location: "URL of the new batch." },
    },
    errors: [
      "not_found",
      "not_final",
      "not_retryable",
      "idempotency_conflict",
      ...LIMIT_PROBLEM_CODES,
    ],
    example: { id: EXAMPLE_ID },
    handle: retryBatch,
  }),
]

async function retryBatch(c: AppContext) {
  const { batch: before, jobs } = await findRequestedBatch(c)
  if (before.openJobs > 0) {
    throw new Problem("not_final", "The batch is open; cancel it first, or wait for its end.")
  }
  const failed = jobs.filter(({ state }) => isFinalState(state) && state !== "succeeded")
  if (failed.length === 0) {
    throw new Problem(
      "not_retryable",
      "No job of the batch failed, or those that failed were deleted: there is nothing to retry.",
    )
  }
  const { webhookUrl, metadata, retentionMs } = before
  const batch = draftBatchRow(c, { webhookUrl, metadata, retentionMs, retryOf: before.id })
  const once = await readIdempotencyKeyAndHash(c, {})
  const { jobId } = await retryJobsOrThrow(c, { jobs: failed, once, headers: {}, batch })
  return await answerAccepted(c, jobId)
}

async function answerAccepted(c: AppContext, id: string) {
  const found = await findBatchById(c, id, readPreferredWaitMs(c))
  return {
    body: { batch_id: id, ...(await viewWithProgress(c, found)) },
    headers: { location: resourceUrl(c, BATCHES, id) },
  }
}

async function findRequestedBatch(
  c: AppContext,
  waitMs: number | null = null,
): Promise<BatchWithJobs> {
  return await findBatchById(c, readPathResourceId(c, BATCHES.title), waitMs)
}

async function findBatchById(
  c: AppContext,
  batchId: string,
  waitMs: number | null,
): Promise<BatchWithJobs> {
  const found = await awaitBatchEnd(c.env, { accountId: c.get("account").id, batchId }, waitMs)
  if (!found) throw notFoundProblem(BATCHES.title)
  return found
}

async function viewWithProgress(c: AppContext, found: BatchWithJobs): Promise<BatchRecord> {
  return await view(c, found, await readProgressOfJobs(c.env, found.jobs))
}

async function view(
  c: AppContext,
  found: BatchWithJobs,
  progress: ReadonlyMap<string, Progress>,
): Promise<BatchRecord> {
  const jobs = await hydrateListedJobs(c.env.MEDIA, found.jobs, { request: false })
  return buildBatchRecord(getBaseUrl(c), { ...found, jobs }, progress)
}

async function followEvents(c: AppContext): Promise<Response> {
  const found = await findRequestedBatch(c)
  const lastEventId = c.req.header("last-event-id") ?? null
  const shown = toStreamedBatch(await viewWithProgress(c, found))
  // A 204 tells browsers not to reconnect.
  if (found.batch.openJobs === 0 && lastEventId === shown.id) return c.body(null, 204)
  const address = { accountId: found.batch.accountId, batchId: found.batch.id }
  const states = followBatch(c.env, address, EVENT_STREAM_MS_MAX)
  const records = viewAll(c, yieldWhileAuthorized(c, states))
  return c.body(streamJobEvents(records, lastEventId, toStreamedBatch), 200, EVENT_STREAM_HEADERS)
}

async function* viewAll(
  c: AppContext,
  states: ReturnType<typeof followBatch>,
): AsyncGenerator<BatchRecord> {
  for await (const { found, progress } of states) yield await view(c, found, progress)
}

/** Returns a batch record with its state and event id for an event stream. */
function toStreamedBatch(record: BatchRecord): StreamedRecord {
  const { status, open_jobs, failed_jobs, progress, jobs } = record
  const started = Object.values(jobs).filter(({ started_at }) => started_at !== null).length
  const state = [status, open_jobs, failed_jobs, started, ""].join(".")
  return { record, state, id: `${state}${progress}` }
}
