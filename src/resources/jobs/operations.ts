import { z } from "zod"
import { baseUrl, preferredWaitMs, readIdempotency } from "../../http/request.ts"
import type { AppContext } from "../../http/request.ts"
import { whileStillCaller } from "../../http/auth.ts"
import { answerAccepted, creatingOf } from "../../http/creates.ts"
import { LIMIT_PROBLEMS } from "../../http/limit-problem.ts"
import { NO_QUERY, operation } from "../../http/operation.ts"
import type { Operation } from "../../http/operation.ts"
import { notFound, Problem, storageFull, unprocessables } from "../../http/problem.ts"
import { listDatabase, replicaFor } from "../../http/replica.ts"
import { EXAMPLE_ID } from "../../ids.ts"
import { JOB_STATUSES, jobRecord, statesOfJobStatus } from "../../kinds/job-record.ts"
import type { JobRecord } from "../../kinds/job-record.ts"
import { KIND_NAMES, kindOf, UNLISTED_KINDS, viewJob } from "../../kinds/registry.ts"
import { cancelJob } from "../../pipeline/jobs/cancel.ts"
import { deleteJob } from "../../pipeline/jobs/delete.ts"
import { progressOf, awaitEnd, followJob } from "../../pipeline/jobs/wait.ts"
import { retryJob } from "../../pipeline/jobs/retry.ts"
import { hydrateListed } from "../../storage/hydrate.ts"
import { findJob, listJobs } from "../../storage/jobs.ts"
import type { Job } from "../../storage/schema/jobs.ts"
import { isFinal } from "../../storage/schema/states.ts"
import { collectionOperations, locationOf, readId } from "../../http/collection.ts"
import { answerLog } from "./log.ts"
import { EVENT_HEADERS, lastEventOf, streamEvents } from "./events.ts"

/** A stream ends by then, so that its caller is authenticated again; clients reconnect by themselves. */
const STREAM_MS_MAX = 15 * 60_000

const JOBS = { path: "jobs", title: "job" }

const kindFilter = z.enum(KIND_NAMES, `expected one of ${KIND_NAMES.join(", ")}`).optional()
const statusFilter = z.enum(JOB_STATUSES, `expected one of ${JOB_STATUSES.join(", ")}`).optional()

/** The operations of jobs, whatever their kind. */
export const jobOperations: Operation[] = [
  ...collectionOperations({
    ...JOBS,
    record: jobRecord,
    filters: z.object({ kind: kindFilter, status: statusFilter }),
    list: async (c, { kind, status }, page) => {
      const states = status && statesOfJobStatus(status)
      const jobs = await listJobs(listDatabase(c), { kind, states, request: "none" }, page)
      return await hydrateListed(c.env.MEDIA, jobs, { request: false })
    },
    idOf: (job) => job.id,
    jobOf: (job) => job,
    find: async (c, id, waitMs) => {
      const asked = { ...jobIdOf(c, id), replica: replicaFor(c, id) }
      return listed(await awaitEnd(c.env, asked, waitMs))
    },
    view: (c, job, progress) => viewJob(baseUrl(c), job, progress),
    remove: async (c, job) => await deleteJob(c.env, c.executionCtx, job.accountId, job.id),
  }),
  operation({
    method: "get",
    path: "/jobs/{id}/events",
    operationId: "followJob",
    summary: "Follow a job by server-sent events, `state` and `progress`, up to its end",
    tag: "jobs",
    query: NO_QUERY,
    headers: ["Last-Event-ID"],
    answer: {
      status: 200,
      description: "A stream of events whose data is the job.",
      schema: null,
      mediaType: "text/event-stream",
    },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    handle: followEvents,
  }),
  operation({
    method: "get",
    path: "/jobs/{id}/log",
    operationId: "getJobLog",
    summary: "Get what ffmpeg said of a command, the last 64 KB",
    tag: "jobs",
    query: NO_QUERY,
    answer: {
      status: 200,
      description: "The lines as ffmpeg wrote them, with keys in the place of names.",
      schema: null,
      mediaType: "text/plain",
    },
    errors: ["not_found", "no_log"],
    example: { id: EXAMPLE_ID },
    handle: async (c) => await answerLog(c, await find(c)),
  }),
  operation({
    method: "post",
    path: "/jobs/{id}/cancel",
    operationId: "cancelJob",
    summary: "Cancel a job that is not over",
    tag: "jobs",
    query: NO_QUERY,
    answer: { status: 200, description: "The job as it then is.", schema: jobRecord },
    errors: ["not_found", "already_final"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const { id, accountId } = await find(c)
      if (!(await cancelJob(c.env, accountId, id))) {
        throw new Problem("already_final", "The job is over: there is nothing to cancel.")
      }
      return { body: await view(c, await find(c)) }
    },
  }),
  operation({
    method: "post",
    path: "/jobs/{id}/retry",
    operationId: "retryJob",
    summary: "Do a job that is over once more, as a new job",
    tag: "jobs",
    query: NO_QUERY,
    headers: ["Idempotency-Key", "Prefer"],
    answer: {
      status: 202,
      description: "The new job.",
      schema: jobRecord,
      headers: { Location: "The address of the new job." },
    },
    errors: ["not_found", "not_final", "not_retryable", "idempotency_conflict", ...LIMIT_PROBLEMS],
    example: { id: EXAMPLE_ID },
    handle: retry,
  }),
]

async function followEvents(c: AppContext): Promise<Response> {
  const job = await find(c)
  const seen = c.req.header("last-event-id") ?? null
  // To a browser 204 means that it need not reconnect.
  if (isFinal(job.state) && seen === lastEventOf(viewJob(baseUrl(c), job, null))) {
    return c.body(null, 204)
  }
  const states = followJob(c.env, jobIdOf(c, job.id), STREAM_MS_MAX)
  const stream = streamEvents(whileStillCaller(c, states), seen, (state) =>
    viewJob(baseUrl(c), state.job, state.progress),
  )
  return c.body(stream, 200, EVENT_HEADERS)
}

async function retry(c: AppContext) {
  const before = await find(c)
  if (!isFinal(before.state)) {
    throw new Problem("not_final", "The job still runs; cancel it first, or wait for its end.")
  }
  const refusal = kindOf(before.kind).refuseRetry?.(before.request) ?? null
  if (refusal !== null) throw new Problem("not_retryable", refusal)
  const once = await readIdempotency(c, null)
  const retried = retryJob(c.env, c.executionCtx, before, { once, creating: creatingOf(c) })
  // A caller that hangs up must not stop a copy that was begun from being removed.
  c.executionCtx.waitUntil(retried.catch(() => undefined))
  const accepted = await retried
  if (accepted === "full") throw storageFull()
  if (typeof accepted === "object" && "gone" in accepted) {
    const { inputField } = kindOf(before.kind)
    const message = "there is no such file any more"
    throw unprocessables(accepted.gone.map((key) => ({ field: inputField(key), message })))
  }
  const { jobId } = answerAccepted(c, accepted)
  const job = await awaitEnd(c.env, jobIdOf(c, jobId), preferredWaitMs(c))
  if (!job) throw notFound(JOBS.title)
  return { body: await view(c, job), headers: { location: locationOf(c, JOBS, jobId) } }
}

function jobIdOf(c: AppContext, jobId: string) {
  return { accountId: c.get("account").id, jobId }
}

async function find(c: AppContext): Promise<Job> {
  const id = readId(c, JOBS.title)
  const job = listed(await findJob(c.get("database"), id))
  if (!job) throw notFound(JOBS.title)
  return job
}

/** A job that callers see; null of any other. */
function listed(job: Job | null): Job | null {
  return job && !UNLISTED_KINDS.includes(job.kind) ? job : null
}

async function view(c: AppContext, job: Job): Promise<JobRecord> {
  return viewJob(baseUrl(c), job, await progressOf(c.env, job))
}
