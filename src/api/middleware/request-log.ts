import { createMiddleware } from "hono/factory"
import { routePath } from "hono/route"
import { cutText } from "../../contract/cut-text.ts"
import { configureLog } from "../../bindings/env.ts"
import { log } from "../../platform/log.ts"
import { countMetricEvent } from "../../bindings/metrics.ts"
import { isDashboardRequest } from "./auth.ts"
import type { AppEnv, AppContext } from "../context.ts"

/** Paths of frequent requests, which are logged at debug level to keep the log readable. */
const FREQUENT_PATHS = /^\/(?:io\/|v1\/health$|metrics$|assets\/)/
/**
 * Format of a request id that the caller chose. The log shows the caller's id beside the service's
 * own id.
 */
const CLIENT_REQUEST_ID = /^[\w.:-]{1,64}$/
/** Maximum length of a logged path in characters; real paths with a file name are shorter. */
const PATH_CHARACTERS_MAX = 1_000

/**
 * Logs and counts each request once its response headers are ready. The log contains no queries and
 * no bodies.
 */
export const logRequest = createMiddleware<AppEnv>(async (c, next) => {
  configureLog(c.env)
  const startedAt = Date.now()
  await next()
  const durationMs = Date.now() - startedAt
  const { method, path } = c.req
  const { status } = c.res
  // A request that the dashboard makes to the API is part of a page request, which is counted.
  const isFrequent = FREQUENT_PATHS.test(path) || isDashboardRequest(c.req.raw)
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
    request_bytes: readContentLength(c.req.raw.headers),
    answer_bytes: readContentLength(c.res.headers),
  })
  if (path.startsWith("/io/") || isDashboardRequest(c.req.raw)) return
  countMetricEvent(c.env, { event: "request", method, route: routePath(c), status, durationMs })
})

function clientRequestId(c: AppContext): string | undefined {
  const id = c.req.header("x-request-id") ?? ""
  return CLIENT_REQUEST_ID.test(id) ? id : undefined
}

function readContentLength(headers: Headers): number | undefined {
  const length = headers.get("content-length")
  return length === null ? undefined : Number(length)
}
