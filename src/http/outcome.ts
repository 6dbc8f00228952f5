import { createMiddleware } from "hono/factory"
import { newId } from "../ids.ts"
import type { App, AppContext } from "./context.ts"
import { Problem, problemResponse } from "./problem.ts"
import { logError } from "../log.ts"

/** Gives a request its id and every answer the headers that all share. */
export const nameRequest = createMiddleware<App>(async (c, next) => {
  c.set("requestId", newId())
  await next()
  c.header("x-request-id", c.get("requestId"))
  c.header("referrer-policy", "no-referrer")
  c.header("x-content-type-options", "nosniff")
  if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store")
})

/** The answer to whatever was thrown; of what was not expected only the request's id is told. */
export function answerError(error: Error, c: AppContext): Response {
  if (error instanceof Problem) return problemResponse(error)
  const requestId = c.get("requestId")
  const cause = error.stack ?? String(error)
  logError("request.failed", { request_id: requestId, cause })
  const message = `Something went wrong inside; name request ${requestId} when you report it.`
  return problemResponse(new Problem("internal", message))
}

export function answerNotFound(): Response {
  return problemResponse(new Problem("not_found", "There is no such path."))
}
