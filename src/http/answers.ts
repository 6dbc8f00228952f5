import type { Context } from "hono"
import { createMiddleware } from "hono/factory"
import { HTTPException } from "hono/http-exception"
import { newId } from "../ids.ts"
import { logError } from "../log.ts"
import type { Holder } from "../rpc.ts"
import { findHolder } from "../storage/accounts.ts"
import { directoryOf } from "../storage/database.ts"
import { hasSpace } from "../storage/state-disk.ts"
import { nearPath } from "../hints/paths.ts"
import type { App, AppContext } from "./request.ts"
import { Problem, problemResponse, storageFull } from "./problem.ts"
import { allowanceHeaders } from "./rate-limit.ts"
import { SHARED_HEADERS } from "./shared-headers.ts"

/** Gives a request its id, and its answer the headers that all answers share. */
export const nameRequest = createMiddleware<App>(async (c, next) => {
  c.set("requestId", newId())
  await next()
  // Makes the headers of an answer that cannot be changed ones that can.
  c.header("x-request-id", c.get("requestId"))
  const { headers } = c.res
  for (const [name, value] of sharedHeaders(c)) if (!headers.has(name)) headers.set(name, value)
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store")
})

/** What every answer says, and what every answer to a caller who is known says, too. */
function sharedHeaders(c: AppContext): [name: string, value: string][] {
  const allowance = c.get("allowance")
  return Object.entries({ ...SHARED_HEADERS, ...(allowance && allowanceHeaders(allowance)) })
}

/** The answer to whatever was thrown; of an unexpected error only the request's id is public. */
export async function answerError(error: Error, c: AppContext): Promise<Response> {
  return answerProblem(await problemOf(error, c), c)
}

/** The problem that whatever was thrown is to who sent the request; unexpected errors are logged. */
export async function problemOf<Known extends App>(
  error: Error,
  c: Context<Known>,
): Promise<Problem> {
  if (error instanceof Problem) return error
  // What guards forms against other sites throws this.
  if (error instanceof HTTPException && error.status === 403) {
    return new Problem("forbidden", "A page of another site sent this; only this site's own may.")
  }
  if (await isAccountGone(c)) return new Problem("invalid_token", "The account was deleted.")
  const requestId = c.get("requestId")
  const cause = error.stack ?? String(error)
  logError("request.failed", { request_id: requestId, cause })
  // A full disk makes all kinds of writes fail, each in its own words.
  const isWrite = c.req.method !== "GET" && c.req.method !== "HEAD"
  if (isWrite && !(await hasSpace(c.env, 0))) return storageFull()
  const message = `Something went wrong inside; name request ${requestId} when you report it.`
  return new Problem("internal", message)
}

/** Whether the account of a request was deleted meanwhile, with what the request works on. */
async function isAccountGone<Known extends App>(c: Context<Known>): Promise<boolean> {
  const account: Holder | undefined = c.get("account")
  if (!account) return false
  const known = await findHolder(directoryOf(c.env), account.id).catch(() => account)
  return known === null
}

/** Answers that there is no such path, and which of those that there are was most likely meant. */
export function answerNotFound(c: AppContext, templates: readonly string[]): Response {
  const near = nearPath(c.req.path, templates)
  const meant = near === null ? "; /docs shows all that there are." : `; did you mean \`${near}\`?`
  return answerProblem(new Problem("not_found", `There is no such path${meant}`), c)
}

function answerProblem(problem: Problem, c: AppContext): Response {
  c.set("problemCode", problem.code)
  const accept = c.req.header("accept") ?? ""
  return problemResponse(problem, { requestId: c.get("requestId"), accept })
}
