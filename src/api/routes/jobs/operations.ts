import { z } from "zod"
import {
  getBaseUrl,
  readPreferredWaitMs,
  readIdempotencyKeyAndHash,
  readOptionalJsonBody,
} from "../../input/request.ts"
import type { AppContext } from "../../context.ts"
import { yieldWhileAuthorized } from "../../middleware/auth.ts"
import { metadataFilterSchema } from "../../input/query.ts"
import { LIMIT_PROBLEM_CODES } from "../../output/limit-problem.ts"
import { emptyQuerySchema, defineOperation } from "../../output/operation.ts"
import type { Operation } from "../../output/operation.ts"
import { notFoundProblem, Problem } from "../../output/problem.ts"
import { chooseDatabasesForLists, chooseJobReplica } from "../../middleware/replica.ts"
import { EXAMPLE_ID } from "../../../platform/ids.ts"
import { JOB_STATUSES, jobRecordSchema, findStatesByJobStatus } from "../../../kinds/job-record.ts"
import type { JobRecord } from "../../../kinds/job-record.ts"
import { boundedMapSchema } from "../../../kinds/bounded-map.ts"
import { COMMAND_FILES_MAX } from "../../../kinds/command/request.ts"
import { HEADERS_OPENAPI_SCHEMA, inputHeadersSchema } from "../../../kinds/private-input.ts"
import {
  JOB_LIST_KIND_NAMES,
  INTERNAL_KIND_NAMES,
  buildJobRecordOfAnyKind,
} from "../../../kinds/registry.ts"
import { cancelJobs } from "../../../jobs/batches.ts"
import { deleteJob } from "../../../jobs/remove.ts"
import { readProgress, awaitJobEnd, followJob } from "../../../jobs/wait.ts"
import { BATCH_JOBS_MAX } from "../../../domain/batch.ts"
import { listDependents } from "../../../db/jobs/dependents.ts"
import { hydrateJob, hydrateListedJobs } from "../../../db/values/hydrate.ts"
import { findJob, listJobs } from "../../../db/jobs/jobs.ts"
import type { Job } from "../../../db/schema/jobs.ts"
import { isFinalState, OPEN_STATES, STATES } from "../../../domain/states.ts"
import type { State } from "../../../domain/states.ts"
import {
  makeCollectionOperations,
  resourceUrl,
  readPathResourceId,
} from "../../output/collection.ts"
import { retryJobsOrThrow } from "./retry.ts"
import {
  EVENT_STREAM_HEADERS,
  EVENT_STREAM_MS_MAX,
  streamJobEvents,
  toStreamedJob,
} from "./events.ts"
import { readJobLog } from "../../../db/jobs/logs.ts"

const LOG_TYPE = "text/plain; charset=utf-8"

/** Sends the tool log of a job; throws 404 if the job has no log. */
async function answerLog(c: AppContext, { id, state, result }: Job): Promise<Response> {
  const log = result?.hasLog ? await readJobLog(c.env.MEDIA, c.get("database"), id) : null
  if (log === null)
    throw new Problem("no_log", isFinalState(state) ? NO_LOG_MESSAGE : LOG_NOT_WRITTEN_MESSAGE)
  return c.body(log, 200, { "content-type": LOG_TYPE, "cache-control": "private, no-store" })
}

const LOG_NOT_WRITTEN_MESSAGE = "The job has not ended: its log is written at its end."
const NO_LOG_MESSAGE =
  "The job has no log: only jobs of POST /v1/commands and POST /v1/ffmpeg have a log, once FFmpeg ran to its end."

/**
 * Maximum wait in milliseconds for the end of a dependent of a failed job. A dependent reads an
 * output of the job, and ends some milliseconds after the job has failed.
 */
const DEPENDENT_END_MS_MAX = 5_000

const JOBS = { path: "jobs", title: "job" }

/** Schema of the request body of a retry. */
const retryRequest = z
  .strictObject(
    {
      headers: boundedMapSchema(z.string(), inputHeadersSchema, {
        most: COMMAND_FILES_MAX,
        error: "expected an object of headers by field",
        tooMany: `expected at most ${COMMAND_FILES_MAX} inputs`,
      })
        .default({})
        .meta({
          description:
            "The headers of each input that had some, by its field, as `input_files.in_1`: they were not kept.",
          additionalProperties: HEADERS_OPENAPI_SCHEMA,
        }),
    },
    "expected an object of fields",
  )
  .meta({ id: "RetryRequest" })

/** Query parameters of an action on a job that can include the job's dependents. */
const dependentsQuery = z.object({
  dependents: z
    .stringbool({
      truthy: ["true"],
      falsy: ["false"],
      case: "sensitive",
      error: "expected true or false",
    })
    .optional()
    .meta({
      description:
        "Whether the action includes the jobs that read outputs of the job, the jobs that read theirs, and so on.",
      override: { type: "boolean" },
    }),
})

const kindFilter = z
  .enum(JOB_LIST_KIND_NAMES, `expected one of ${JOB_LIST_KIND_NAMES.join(", ")}`)
  .optional()
const statusFilter = z.enum(JOB_STATUSES, `expected one of ${JOB_STATUSES.join(", ")}`).optional()

/** Operations of jobs of all kinds. */
export const jobOperations: Operation[] = [
  ...makeCollectionOperations({
    ...JOBS,
    record: jobRecordSchema,
    filters: z.object({ kind: kindFilter, status: statusFilter, metadata: metadataFilterSchema }),
    list: async (c, { kind, status, metadata: pair }, page) => {
      const states = status && findStatesByJobStatus(status)
      const jobs = await listJobs(
        chooseDatabasesForLists(c),
        { kind, states, pair, request: "none" },
        page,
      )
      return await hydrateListedJobs(c.env.MEDIA, jobs, { request: false })
    },
    idOf: (job) => job.id,
    jobOf: (job) => job,
    find: async (c, id, waitMs) => {
      const query = { ...toJobReference(c, id), replica: chooseJobReplica(c, id) }
      return hideUnlisted(await awaitJobEnd(c.env, query, waitMs))
    },
    hydrate: async (c, job) => await hydrateJob(c.env.MEDIA, job),
    view: (c, job, progress) => buildJobRecordOfAnyKind(getBaseUrl(c), job, progress),
    remove: async (c, job) => await deleteJob(c.env, c.executionCtx, job.accountId, job.id),
  }),
  defineOperation({
    method: "get",
    path: "/jobs/{id}/events",
    operationId: "followJob",
    summary: "Follow a job to its end by the server-sent events `state` and `progress`",
    tag: "jobs",
    query: emptyQuerySchema,
    headers: ["Last-Event-ID"],
    answer: {
      status: 200,
      description: "A stream of events; the data of each event is the Job.",
      schema: null,
      mediaType: "text/event-stream",
    },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    handle: followEvents,
  }),
  defineOperation({
    method: "get",
    path: "/jobs/{id}/log",
    operationId: "getJobLog",
    summary: "Get the last 64 KB of a command's FFmpeg log",
    tag: "jobs",
    query: emptyQuerySchema,
    answer: {
      status: 200,
      description: "The lines of FFmpeg, with keys in place of file names.",
      schema: null,
      mediaType: "text/plain",
    },
    errors: ["not_found", "no_log"],
    example: { id: EXAMPLE_ID },
    handle: async (c) => await answerLog(c, await findRequestedJob(c)),
  }),
  defineOperation({
    method: "post",
    path: "/jobs/{id}/cancel",
    operationId: "cancelJob",
    summary: "Cancel an open job",
    tag: "jobs",
    query: dependentsQuery,
    answer: { status: 200, description: "The canceled job.", schema: jobRecordSchema },
    errors: ["not_found", "already_final", "too_many_dependents"],
    example: { id: EXAMPLE_ID },
    handle: cancel,
  }),
  defineOperation({
    method: "post",
    path: "/jobs/{id}/retry",
    operationId: "retryJob",
    summary: "Retry a finished job as a new job",
    tag: "jobs",
    query: dependentsQuery,
    headers: ["Idempotency-Key", "Prefer"],
    bodies: { "application/json": { schema: retryRequest, example: {} } },
    isBodyOptional: true,
    answer: {
      status: 202,
      description: "The new job.",
      schema: jobRecordSchema.extend({
        dependents: z.array(z.uuid()).optional().meta({
          description: "The new jobs behind the new job, with `dependents=true`.",
        }),
      }),
      headers: { Location: "URL of the new job." },
    },
    errors: [
      "not_found",
      "not_final",
      "not_retryable",
      "too_many_dependents",
      "idempotency_conflict",
      ...LIMIT_PROBLEM_CODES,
      "payload_too_large",
      "request_timeout",
      "unsupported_media_type",
    ],
    example: { id: EXAMPLE_ID },
    handle: retry,
  }),
]

async function followEvents(c: AppContext): Promise<Response> {
  const job = await findRequestedJob(c)
  const lastEventId = c.req.header("last-event-id") ?? null
  // A 204 tells browsers not to reconnect.
  if (
    isFinalState(job.state) &&
    lastEventId === toStreamedJob(buildJobRecordOfAnyKind(getBaseUrl(c), job, null)).id
  ) {
    return c.body(null, 204)
  }
  const states = followJob(c.env, toJobReference(c, job.id), EVENT_STREAM_MS_MAX)
  const stream = streamJobEvents(yieldWhileAuthorized(c, states), lastEventId, (state) =>
    toStreamedJob(buildJobRecordOfAnyKind(getBaseUrl(c), state.job, state.progress)),
  )
  return c.body(stream, 200, EVENT_STREAM_HEADERS)
}

async function retry(c: AppContext, { dependents }: { dependents?: boolean | undefined }) {
  const request = await readOptionalJsonBody(c, retryRequest)
  const before = await findRequestedJob(c)
  if (!isFinalState(before.state)) {
    throw new Problem("not_final", "The job is open; cancel it first, or wait for its end.")
  }
  const behind = dependents === true ? await findEndedDependents(c, before) : []
  const once = await readIdempotencyKeyAndHash(
    c,
    dependents === true ? { ...request, dependents } : request,
  )
  const accepted = await retryJobsOrThrow(c, { jobs: [before, ...behind], once, ...request })
  const { jobId, newJobIds } = accepted
  const job = await awaitJobEnd(c.env, toJobReference(c, jobId), readPreferredWaitMs(c))
  if (!job) throw notFoundProblem(JOBS.title)
  return {
    body: {
      ...(await viewWithProgress(c, job)),
      ...(dependents === true && { dependents: await findNewDependents(c, jobId, newJobIds) }),
    },
    headers: { location: resourceUrl(c, JOBS, jobId) },
  }
}

/**
 * Returns the ids of the new jobs that repeat the dependents of a retried job. For a repeated
 * request, reads the ids from D1.
 */
async function findNewDependents(
  c: AppContext,
  jobId: string,
  newJobIds: readonly string[],
): Promise<string[]> {
  if (newJobIds.length > 0) return newJobIds.slice(1)
  const query = { states: STATES, limit: BATCH_JOBS_MAX }
  const behind = await listDependents(c.get("database"), jobId, query)
  return behind.flatMap(({ id, retryOf }) => (retryOf === null ? [] : id))
}

/**
 * Returns the failed and canceled dependents of a job. Waits for open dependents, and throws 409 if
 * a dependent does not end soon.
 */
async function findEndedDependents(c: AppContext, job: Job): Promise<Job[]> {
  const behind = await findDependents(c, job, [...OPEN_STATES, "failed", "canceled"])
  return await Promise.all(
    behind.map(async (dependent) => {
      if (isFinalState(dependent.state)) return dependent
      const reference = toJobReference(c, dependent.id)
      const ended = await awaitJobEnd(c.env, reference, DEPENDENT_END_MS_MAX)
      if (ended && isFinalState(ended.state)) return ended
      const message = `The job ${dependent.id} behind this job is open; cancel it, or wait for its end.`
      throw new Problem("not_final", message)
    }),
  )
}

async function cancel(c: AppContext, { dependents }: { dependents?: boolean | undefined }) {
  const job = await findRequestedJob(c)
  const behind = dependents === true ? await findDependents(c, job, OPEN_STATES) : []
  if ((await cancelJobs(c.env, job.accountId, [job, ...behind])) === 0) {
    throw new Problem("already_final", "The job has already ended and cannot be canceled.")
  }
  return { body: await viewWithProgress(c, await findRequestedJob(c)) }
}

/** Returns the dependents of a job that are in given states; throws 409 for too many dependents. */
async function findDependents(c: AppContext, job: Job, states: readonly State[]): Promise<Job[]> {
  const query = { states, limit: BATCH_JOBS_MAX }
  const behind = await listDependents(c.get("database"), job.id, query)
  if (behind.length < BATCH_JOBS_MAX) return behind
  const message = `The job has ${BATCH_JOBS_MAX} dependents or more: send the request without dependents.`
  throw new Problem("too_many_dependents", message)
}

function toJobReference(c: AppContext, jobId: string) {
  return { accountId: c.get("account").id, jobId }
}

async function findRequestedJob(c: AppContext): Promise<Job> {
  const id = readPathResourceId(c, JOBS.title)
  const job = hideUnlisted(await findJob(c.get("database"), id))
  if (!job) throw notFoundProblem(JOBS.title)
  return job
}

/** Returns the job, or null if its kind is internal and hidden from callers. */
function hideUnlisted(job: Job | null): Job | null {
  return job && !INTERNAL_KIND_NAMES.includes(job.kind) ? job : null
}

async function viewWithProgress(c: AppContext, job: Job): Promise<JobRecord> {
  return buildJobRecordOfAnyKind(getBaseUrl(c), job, await readProgress(c.env, job))
}
