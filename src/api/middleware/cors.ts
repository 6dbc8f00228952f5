import { cors } from "hono/cors"
import { createMiddleware } from "hono/factory"
import { getSettings } from "../../bindings/env.ts"
import type { AppEnv, AppContext } from "../context.ts"

/** Request headers that scripts of other origins may send. */
const ALLOWED_HEADERS = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "If-Match",
  "If-Modified-Since",
  "If-None-Match",
  "If-Range",
  "If-Unmodified-Since",
  "Last-Event-ID",
  "Prefer",
  "Range",
  "Tus-Resumable",
  "Upload-Checksum",
  "Upload-Length",
  "Upload-Metadata",
  "Upload-Offset",
  "X-API-Key",
  "X-HTTP-Method-Override",
  "X-Request-Id",
]

/** Response headers that scripts of other origins may read. */
export const EXPOSED_HEADERS = [
  "Accept-Ranges",
  "Content-Disposition",
  "Content-Location",
  "Content-Range",
  "ETag",
  "Idempotent-Replayed",
  "Link",
  "Location",
  "Preference-Applied",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "Tus-Checksum-Algorithm",
  "Tus-Extension",
  "Tus-Resumable",
  "Tus-Version",
  "Upload-Expires",
  "Upload-Length",
  "Upload-Metadata",
  "Upload-Offset",
  "WWW-Authenticate",
  "X-Request-Id",
]

/** Time in seconds for which browsers cache a preflight; browsers allow at most two hours. */
const PREFLIGHT_SECONDS = 7200

const SHARED_OPTIONS = {
  allowHeaders: ALLOWED_HEADERS,
  exposeHeaders: EXPOSED_HEADERS,
  maxAge: PREFLIGHT_SECONDS,
}

const shareByOrigin = cors({
  ...SHARED_OPTIONS,
  origin: allowedOrigin,
  allowMethods: ["GET", "HEAD", "POST", "PATCH", "DELETE"],
})

const shareWithAll = cors({ ...SHARED_OPTIONS, origin: "*", allowMethods: ["GET", "HEAD"] })

/** HTTP methods of the URL of an upload link. */
const LINK_METHODS = ["HEAD", "POST", "PUT", "PATCH", "DELETE"]

/** Sets CORS headers for the origins that an upload link lists, and answers preflight requests. */
export async function allowUploadLinkOrigins(
  c: AppContext,
  origins: readonly string[],
  next: () => Promise<void>,
): Promise<Response | void> {
  const share = cors({
    ...SHARED_OPTIONS,
    origin: (origin) => (isListedOrigin(origins, origin) ? origin : null),
    allowMethods: LINK_METHODS,
  })
  return await share(c, next)
}

/** Reports whether a list of origins names an origin; `*` names every origin. */
export function isListedOrigin(origins: readonly string[], origin: string): boolean {
  return origins.includes(origin) || origins.includes("*")
}

/**
 * Middleware that sets CORS headers for the origins in the setting `CORS_ORIGINS`. Without these
 * headers, browsers hide responses from scripts of other origins.
 */
export const allowConfiguredOrigins = createMiddleware<AppEnv>(async (c, next) => {
  const origin = c.req.header("origin")
  if (origin === undefined || allowedOrigin(origin, c) === null) return await next()
  return await shareByOrigin(c, next)
})

/** Middleware that sets CORS headers for every origin, on routes that need no API key. */
export const allowEveryOrigin = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.header("origin") === undefined) return await next()
  return await shareWithAll(c, next)
})

function allowedOrigin(origin: string, { env }: AppContext): string | null {
  const { CORS_ORIGINS: origins } = getSettings(env)
  if (origins.includes(origin)) return origin
  return origins.includes("*") ? "*" : null
}
