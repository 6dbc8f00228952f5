import type { Context } from "hono"
import { createMiddleware } from "hono/factory"
import { HTTPException } from "hono/http-exception"
import { newId } from "../../platform/ids.ts"
import { logError } from "../../platform/log.ts"
import type { CallerAccount } from "../../bindings/rpc.ts"
import { findCallerAccount } from "../../db/accounts/accounts.ts"
import { openDirectory } from "../../db/database.ts"
import { hasDiskSpace } from "../../bindings/storage-disk.ts"
import { findNearestPath } from "../../hints/paths.ts"
import type { AppEnv, AppContext } from "../context.ts"
import { Problem, problemResponse, storageFullProblem } from "../output/problem.ts"
import { rateLimitHeaders } from "./rate-limit.ts"
import { SECURITY_HEADERS } from "./shared-headers.ts"

/** Assigns an id to each request, and sets the headers that all responses share. */
export const setRequestId = createMiddleware<AppEnv>(async (c, next) => {
  c.set("requestId", newId())
  await next()
  // If the headers of the response are immutable, `c.header` makes a copy of the response. The next
  // lines can then set headers.
  c.header("x-request-id", c.get("requestId"))
  const { headers } = c.res
  for (const [name, value] of sharedHeaders(c)) if (!headers.has(name)) headers.set(name, value)
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store")
})

/**
 * Returns the headers that every response has, including the rate limit of an authenticated caller.
 */
function sharedHeaders(c: AppContext): [name: string, value: string][] {
  const allowance = c.get("allowance")
  return Object.entries({ ...SECURITY_HEADERS, ...(allowance && rateLimitHeaders(allowance)) })
}

/** Returns the response for a thrown error. Unexpected errors show only the request id. */
export async function respondWithError(error: Error, c: AppContext): Promise<Response> {
  return answerProblem(await errorToProblem(error, c), c)
}

/** Converts a thrown error to an error response; logs unexpected errors. */
export async function errorToProblem<Known extends AppEnv>(
  error: Error,
  c: Context<Known>,
): Promise<Problem> {
  if (error instanceof Problem) return error
  // Hono's CSRF protection of forms throws a 403.
  if (error instanceof HTTPException && error.status === 403) {
    return new Problem(
      "forbidden",
      "A page of another site sent the request; send it from a page of this service.",
    )
  }
  if (await isAccountDeleted(c)) return new Problem("invalid_token", "The account was deleted.")
  const requestId = c.get("requestId")
  const cause = error.stack ?? String(error)
  logError("request.failed", { request_id: requestId, cause })
  // A full disk makes writes fail with many different errors, so check the free space.
  const isWrite = c.req.method !== "GET" && c.req.method !== "HEAD"
  if (isWrite && !(await hasDiskSpace(c.env, 0))) return storageFullProblem()
  const message = `An internal error occurred. Send the request again, or report request ${requestId} to the operator of this service.`
  return new Problem("internal", message)
}

/** Reports whether the account of a request was deleted while the request ran. */
async function isAccountDeleted<Known extends AppEnv>(c: Context<Known>): Promise<boolean> {
  const account: CallerAccount | undefined = c.get("account")
  if (!account) return false
  const holder = await findCallerAccount(openDirectory(c.env), account.id).catch(() => account)
  return holder === null
}

/**
 * Returns the 404 response for an unknown path, with the most similar known path as a suggestion.
 */
export function respondNotFound(c: AppContext, templates: readonly string[]): Response {
  const near = findNearestPath(c.req.path, templates)
  const suggestion = near === null ? "; see /docs for all paths." : `; did you mean \`${near}\`?`
  return answerProblem(new Problem("not_found", `No such path exists${suggestion}`), c)
}

function answerProblem(problem: Problem, c: AppContext): Response {
  c.set("problemCode", problem.code)
  const accept = c.req.header("accept") ?? ""
  return problemResponse(problem, { requestId: c.get("requestId"), accept })
}
