import { createMiddleware } from "hono/factory"
import { newId } from "../ids.ts"
import { logError } from "../log.ts"
import { hasSpace } from "../storage/state-disk.ts"
import type { App, AppContext } from "./request.ts"
import { Problem, problemResponse, storageFull } from "./problem.ts"
import { SHARED_HEADERS } from "./shared-headers.ts"

/** Gives a request its id, and its answer the headers that all answers share. */
export const nameRequest = createMiddleware<App>(async (c, next) => {
  c.set("requestId", newId())
  await next()
  c.header("x-request-id", c.get("requestId"))
  for (const [name, value] of Object.entries(SHARED_HEADERS)) c.header(name, value)
  if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store")
})

/** The answer to whatever was thrown; of an unexpected error only the request's id is public. */
export async function answerError(error: Error, c: AppContext): Promise<Response> {
  if (error instanceof Problem) return answerProblem(error, c)
  const requestId = c.get("requestId")
  const cause = error.stack ?? String(error)
  logError("request.failed", { request_id: requestId, cause })
  // A full disk makes all kinds of writes fail, each in its own words.
  const isWrite = c.req.method !== "GET" && c.req.method !== "HEAD"
  if (isWrite && !(await hasSpace(c.env, 0))) return answerProblem(storageFull(), c)
  const message = `Something went wrong inside; name request ${requestId} when you report it.`
  return answerProblem(new Problem("internal", message), c)
}

export function answerNotFound(c: AppContext): Response {
  return answerProblem(new Problem("not_found", "There is no such path."), c)
}

function answerProblem(problem: Problem, c: AppContext): Response {
  const accept = c.req.header("accept") ?? ""
  return problemResponse(problem, { requestId: c.get("requestId"), accept })
}
