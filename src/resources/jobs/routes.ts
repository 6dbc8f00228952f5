import { Hono } from "hono"
import { isFinal } from "../../contract/state.ts"
import { parseBody } from "../../http/body.ts"
import { baseUrl } from "../../http/context.ts"
import type { App, AppContext } from "../../http/context.ts"
import { keyConflict, markReplayed, readIdempotency } from "../../http/idempotency.ts"
import { linkNext, readPage } from "../../http/paging.ts"
import { preferredWaitMs } from "../../http/prefer.ts"
import { notFound, Problem, unprocessables } from "../../http/problem.ts"
import { isId } from "../../ids.ts"
import { cancelJob } from "../../pipeline/cancel.ts"
import { deleteJob } from "../../pipeline/delete.ts"
import { progressOf } from "../../pipeline/progress.ts"
import { retryJob } from "../../pipeline/retry.ts"
import { awaitEnd, followJob } from "../../pipeline/wait.ts"
import { openDatabase } from "../../storage/database.ts"
import { findJob, listJobs } from "../../storage/jobs.ts"
import type { Job } from "../../storage/schema.ts"
import { EVENT_HEADERS, lastEventOf, streamEvents } from "./events.ts"
import { jobFilters } from "./schema.ts"
import { statesOf, viewJob } from "./view.ts"

/** A stream ends by then, so that its caller is known again; clients come back by themselves. */
const STREAM_MS_MAX = 15 * 60_000

export const jobs = new Hono<App>()

jobs.get("/", async (c) => {
  const page = readPage(c)
  const { kind, status } = c.req.query()
  const filters = parseBody(jobFilters, { kind, status })
  const wanted = { kind: filters.kind, states: filters.status && statesOf(filters.status) }
  const found = await listJobs(openDatabase(c.env.DB), c.get("account").id, wanted, page)
  linkNext(c, "/jobs", { ...page, filters }, found)
  return c.json(await Promise.all(found.map((job) => view(c, job))))
})

jobs.get("/:id", async (c) => {
  const job = await awaitEnd(c.env, placeOf(c), preferredWaitMs(c))
  if (!job) throw notFound("job")
  return c.json(await view(c, job))
})

jobs.get("/:id/events", async (c) => {
  const job = await find(c)
  const seen = c.req.header("last-event-id") ?? null
  // To a browser 204 means that it need not come back.
  if (isFinal(job.state) && seen === lastEventOf(viewJob(baseUrl(c), job, null))) {
    return c.body(null, 204)
  }
  const steps = followJob(c.env, placeOf(c), Date.now() + STREAM_MS_MAX)
  const stream = streamEvents(steps, seen, (step) => viewJob(baseUrl(c), step.job, step.progress))
  return c.body(stream, 200, EVENT_HEADERS)
})

jobs.post("/:id/cancel", async (c) => {
  const { id } = await find(c)
  const place = placeOf(c)
  if (!(await cancelJob(c.env, { id, accountId: place.accountId }))) {
    throw new Problem("already_final", "The job is over: there is nothing to cancel.")
  }
  const job = await findJob(openDatabase(c.env.DB), place.accountId, id)
  if (!job) throw notFound("job")
  return c.json(await view(c, job))
})

jobs.post("/:id/retry", async (c) => {
  const before = await find(c)
  if (!isFinal(before.state)) {
    throw new Problem("not_final", "The job still runs; cancel it first, or wait for its end.")
  }
  const once = await readIdempotency(c, null)
  const retried = retryJob(c.env, c.executionCtx, before, once)
  // A caller that hangs up must not keep a copy that was begun from being cleared away.
  c.executionCtx.waitUntil(retried.catch(() => undefined))
  const accepted = await retried
  if (accepted === "conflict") throw keyConflict()
  if ("gone" in accepted) {
    const field = before.kind === "command" ? "input_files." : ""
    const message = "there is no such file any more"
    throw unprocessables(accepted.gone.map((key) => ({ field: field + key, message })))
  }
  if (accepted.replayed) markReplayed(c)
  const { jobId } = accepted
  const job = await awaitEnd(c.env, { ...placeOf(c), jobId }, preferredWaitMs(c))
  if (!job) throw notFound("job")
  return c.json(await view(c, job), 202, { location: `${baseUrl(c)}/jobs/${jobId}` })
})

jobs.delete("/:id", async (c) => {
  await deleteJob(c.env, c.executionCtx, await find(c))
  return c.json({})
})

function placeOf(c: AppContext) {
  const id = c.req.param("id") ?? ""
  if (!isId(id)) throw notFound("job")
  return { accountId: c.get("account").id, jobId: id.toLowerCase() }
}

async function find(c: AppContext): Promise<Job> {
  const { accountId, jobId } = placeOf(c)
  const job = await findJob(openDatabase(c.env.DB), accountId, jobId)
  if (!job) throw notFound("job")
  return job
}

async function view(c: AppContext, job: Job) {
  return viewJob(baseUrl(c), job, await progressOf(c.env, job))
}
