import { createMiddleware } from "hono/factory"
import { routePath } from "hono/route"
import { cutText } from "../cut-text.ts"
import { prepareLog } from "../env.ts"
import { log } from "../log.ts"
import { countEvent } from "../metrics.ts"
import { isOwnRequest } from "./auth.ts"
import type { App, AppContext } from "./request.ts"

/** Paths that are asked so often that an entry for each would hide the others. */
const FREQUENT_PATHS = /^\/(?:io\/|v1\/health$|metrics$|assets\/)/
/** An id that a caller may have for its request, to find it in our log by that. */
const CLIENT_REQUEST_ID = /^[\w.:-]{1,64}$/
/** As long as a path with a file's name may be; a path that is none may be longer. */
const PATH_CHARACTERS_MAX = 1_000

/** Logs and counts each request once its answer begins; what it asks and brings is not logged. */
export const logRequest = createMiddleware<App>(async (c, next) => {
  prepareLog(c.env)
  const startedAt = Date.now()
  await next()
  const durationMs = Date.now() - startedAt
  const { method, path } = c.req
  const { status } = c.res
  // The pages of the dashboard ask the interface in their own requests, which are counted.
  const isFrequent = FREQUENT_PATHS.test(path) || isOwnRequest(c.req.raw)
  log(isFrequent ? "debug" : "info", "request.answered", {
    request_id: c.get("requestId"),
    client_request_id: clientRequestId(c),
    method,
    path: cutText(path, PATH_CHARACTERS_MAX),
    status,
    code: c.get("problemCode"),
    duration_ms: durationMs,
    account_id: c.get("account")?.id,
    key_id: c.get("key")?.id,
    request_bytes: bytesOf(c.req.raw.headers),
    answer_bytes: bytesOf(c.res.headers),
  })
  if (path.startsWith("/io/") || isOwnRequest(c.req.raw)) return
  countEvent(c.env, { event: "request", method, route: routePath(c), status, durationMs })
})

function clientRequestId(c: AppContext): string | undefined {
  const given = c.req.header("x-request-id") ?? ""
  return CLIENT_REQUEST_ID.test(given) ? given : undefined
}

function bytesOf(headers: Headers): number | undefined {
  const length = headers.get("content-length")
  return length === null ? undefined : Number(length)
}
