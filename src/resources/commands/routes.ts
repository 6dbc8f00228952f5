import { Hono } from "hono"
import { readJson } from "../../http/body.ts"
import { baseUrl } from "../../http/context.ts"
import type { App, AppContext } from "../../http/context.ts"
import { keyConflict, markReplayed, readIdempotency } from "../../http/idempotency.ts"
import { linkNext, readPage } from "../../http/paging.ts"
import { preferredWaitMs } from "../../http/prefer.ts"
import { notFound } from "../../http/problem.ts"
import { isId } from "../../ids.ts"
import { acceptOnce } from "../../pipeline/create.ts"
import { deleteJob } from "../../pipeline/delete.ts"
import { progressOf } from "../../pipeline/progress.ts"
import { awaitEnd } from "../../pipeline/wait.ts"
import { openDatabase } from "../../storage/database.ts"
import { findJob, listJobs } from "../../storage/jobs.ts"
import type { Job } from "../../storage/schema.ts"
import { anyObject, makeDraft, readRequest } from "./draft.ts"
import { validateCommand } from "./validate.ts"
import { viewCommand } from "./view.ts"

/** The path of one command; `validate` is no id, so that other methods on it are refused as such. */
const ONE = "/:id{(?!validate$)[^/]+}"

export const commands = new Hono<App>()

commands.post("/", async (c) => {
  const request = await readRequest(c, await readJson(c, anyObject))
  const once = await readIdempotency(c, request)
  const accepted = await acceptOnce(c.env, c.executionCtx, once, () => makeDraft(c, request))
  if (accepted === "conflict") throw keyConflict()
  if (accepted.replayed) markReplayed(c)
  const { jobId } = accepted
  const waitMs = preferredWaitMs(c)
  const job = waitMs === null ? null : await awaitEnd(c.env, placeOf(c, jobId), waitMs)
  const answer = { command_id: jobId, ...(job && (await view(c, job))) }
  return c.json(answer, 202, { location: `${baseUrl(c)}/commands/${jobId}` })
})

commands.post("/validate", async (c) => {
  return c.json(await validateCommand(c, await readJson(c, anyObject)))
})

commands.get("/", async (c) => {
  const page = readPage(c)
  const wanted = { kind: "command" as const }
  const found = await listJobs(openDatabase(c.env.DB), c.get("account").id, wanted, page)
  linkNext(c, "/commands", page, found)
  return c.json(await Promise.all(found.map((job) => view(c, job))))
})

commands.get(ONE, async (c) => {
  const job = await awaitEnd(c.env, placeOf(c), preferredWaitMs(c))
  if (job?.kind !== "command") throw notFound("command")
  return c.json(await view(c, job))
})

commands.delete(ONE, async (c) => {
  const { accountId, jobId } = placeOf(c)
  const job = await findJob(openDatabase(c.env.DB), accountId, jobId)
  if (job?.kind !== "command") throw notFound("command")
  await deleteJob(c.env, c.executionCtx, job)
  return c.json({})
})

function placeOf(c: AppContext, id = c.req.param("id") ?? "") {
  if (!isId(id)) throw notFound("command")
  return { accountId: c.get("account").id, jobId: id.toLowerCase() }
}

async function view(c: AppContext, job: Job) {
  return viewCommand(baseUrl(c), job, await progressOf(c.env, job))
}
