import { cors } from "hono/cors"
import { createMiddleware } from "hono/factory"
import { settingsOf } from "../env.ts"
import type { App, AppContext } from "./request.ts"

/** Headers that scripts of other origins may send. */
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
  "X-API-Key",
  "X-Request-Id",
]

/** Headers of answers that scripts of other origins may read. */
export const EXPOSED_HEADERS = [
  "Accept-Ranges",
  "Content-Disposition",
  "Content-Range",
  "ETag",
  "Idempotent-Replayed",
  "Link",
  "Location",
  "Preference-Applied",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "WWW-Authenticate",
  "X-Request-Id",
]

/** Browsers ask again after two hours at the latest. */
const PREFLIGHT_SECONDS = 7200

const SHARED = {
  allowHeaders: ALLOWED_HEADERS,
  exposeHeaders: EXPOSED_HEADERS,
  maxAge: PREFLIGHT_SECONDS,
}

const shareByOrigin = cors({
  ...SHARED,
  origin: allowedOrigin,
  allowMethods: ["GET", "HEAD", "POST", "DELETE"],
})

const shareWithAll = cors({ ...SHARED, origin: "*", allowMethods: ["GET", "HEAD"] })

/**
 * Lets scripts of the origins of CORS_ORIGINS ask, and answers their preflights, which carry no key.
 * What other origins send is answered as if they were none: their browsers keep it from them.
 */
export const allowOrigins = createMiddleware<App>(async (c, next) => {
  const origin = c.req.header("origin")
  if (origin === undefined || allowedOrigin(origin, c) === null) return await next()
  return await shareByOrigin(c, next)
})

/** Lets scripts of every origin read what needs no key of theirs, and answers their preflights. */
export const allowEveryOrigin = createMiddleware<App>(async (c, next) => {
  if (c.req.header("origin") === undefined) return await next()
  return await shareWithAll(c, next)
})

function allowedOrigin(origin: string, { env }: AppContext): string | null {
  const { CORS_ORIGINS: origins } = settingsOf(env)
  if (origins.includes(origin)) return origin
  return origins.includes("*") ? "*" : null
}
