import type { Env } from "../../bindings/env.ts"
import { AUTH_PATH, getBetterAuth } from "./auth.ts"
import { findAuthRoute, AUTH_RATE_LIMIT_WINDOW_MS } from "./limits.ts"
import { readClientNetwork } from "../../platform/client-network.ts"
import { makeBoundedCache } from "../../platform/bounded-cache.ts"
import { openDirectory } from "../../db/database.ts"
import { countAuthRequestIfAllowed } from "../../db/accounts/sign-in-tries.ts"
import type { AuthRoute } from "./limits.ts"

/**
 * Maximum number of refused client networks that an isolate caches. Later requests of a cached
 * network cause no read of the database.
 */
const REFUSALS_MAX = 10_000

const refusals = makeBoundedCache<number>(REFUSALS_MAX)

/**
 * Counts a request of a client network to a sign-in route. Returns null if the request is allowed,
 * else the seconds until the next request is allowed. All requests without a client address count
 * as requests of the same network.
 */
async function takeTry(
  env: Env,
  headers: Headers,
  { path, requestsMax }: AuthRoute,
): Promise<number | null> {
  const network = readClientNetwork(headers) ?? "unknown"
  const name = `${network} ${path}`
  const now = Date.now()
  const refusal = refusals.get(name)
  if (refusal !== null) return secondsUntil(refusal, now)
  const rule = { requestsMax, windowMs: AUTH_RATE_LIMIT_WINDOW_MS }
  const opensAt = await countAuthRequestIfAllowed(openDirectory(env), { network, path, now }, rule)
  if (opensAt === null) return null
  refusals.set(name, opensAt, opensAt)
  return secondsUntil(opensAt, now)
}

function secondsUntil(moment: number, now: number): number {
  return Math.max(1, Math.ceil((moment - now) / 1000))
}

/**
 * Serves a sign-in route of better-auth; returns null for any other path. A response with status
 * 429 has the header `Retry-After`.
 */
export async function serveAuthRoute(
  env: Env,
  origin: string,
  request: Request,
): Promise<Response | null> {
  const { pathname } = new URL(request.url)
  const route = findAuthRoute(request.method, pathname.slice(AUTH_PATH.length))
  if (!route) return null
  const waitSeconds = await takeTry(env, request.headers, route)
  if (waitSeconds !== null) return refuse(waitSeconds)
  const answer = await getBetterAuth(env, origin).handler(request)
  const headers = new Headers(answer.headers)
  headers.set("cache-control", "no-store")
  const seconds = answer.headers.get("x-retry-after")
  if (seconds !== null) headers.set("retry-after", seconds)
  return new Response(answer.body, { status: answer.status, headers })
}

function refuse(waitSeconds: number): Response {
  const message = `Your network address sent too many requests; try again in ${waitSeconds} seconds.`
  const headers = { "cache-control": "no-store", "retry-after": `${waitSeconds}` }
  return Response.json({ code: "TOO_MANY", message }, { status: 429, headers })
}
