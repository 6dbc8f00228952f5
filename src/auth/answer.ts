import type { Env } from "../env.ts"
import { authOf } from "./auth.ts"

/** Answers a request to better-auth's routes; one that is refused for now says until when. */
export async function answerAuth(env: Env, origin: string, request: Request): Promise<Response> {
  const answer = await authOf(env, origin).handler(request)
  const headers = new Headers(answer.headers)
  headers.set("cache-control", "no-store")
  const seconds = answer.headers.get("x-retry-after")
  if (seconds !== null) headers.set("retry-after", seconds)
  return new Response(answer.body, { status: answer.status, headers })
}
