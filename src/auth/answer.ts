import type { Env } from "../env.ts"
import { AUTH_PATH, authOf } from "./auth.ts"
import { findAuthRoute } from "./limits.ts"
import { takeTry } from "./tries.ts"

/**
 * Answers a request to a route of better-auth that is mounted; null for any other path. A request that is
 * refused for now is told until when.
 */
export async function answerAuth(
  env: Env,
  origin: string,
  request: Request,
): Promise<Response | null> {
  const { pathname } = new URL(request.url)
  const route = findAuthRoute(request.method, pathname.slice(AUTH_PATH.length))
  if (!route) return null
  const waitSeconds = await takeTry(env, request.headers, route)
  if (waitSeconds !== null) return refuse(waitSeconds)
  const answer = await authOf(env, origin).handler(request)
  const headers = new Headers(answer.headers)
  headers.set("cache-control", "no-store")
  const seconds = answer.headers.get("x-retry-after")
  if (seconds !== null) headers.set("retry-after", seconds)
  return new Response(answer.body, { status: answer.status, headers })
}

function refuse(waitSeconds: number): Response {
  const message = `Too many requests came from your address; try again in ${waitSeconds} seconds.`
  const headers = { "cache-control": "no-store", "retry-after": `${waitSeconds}` }
  return Response.json({ code: "TOO_MANY", message }, { status: 429, headers })
}
