import { z } from "zod"
import { markDashboardRequest } from "../api/middleware/auth.ts"
import { isProblemCode, Problem } from "../api/output/problem.ts"
import type { SignedInUser } from "../accounts/sign-in/signed-in-user.ts"

/** Function that sends a request to the app that serves the dashboard, within the same process. */
export type SendRequestToApp = (request: Request) => Promise<Response>

/** Result of an API request: the parsed body, or the error with the faults of its fields. */
export type ApiRequestResult<Value> =
  | { ok: true; status: number; value: Value; headers: Headers }
  | { ok: false; status: number; code: string; message: string; faults: ApiFieldError[] }

/** Error in one field of a request. */
export type ApiFieldError = { field: string; message: string }

/**
 * Options of an API request. The request's body is the value `json` as JSON, or the streamed body
 * of the request `passedOn`.
 */
export type ApiRequestOptions = {
  method?: string
  json?: unknown
  passedOn?: Request
  headers?: Record<string, string>
}

/**
 * Function that sends an API request as the signed-in user, and parses the response by the schema.
 * The path is below /v1.
 */
export type ApiClient = <Value>(
  path: string,
  schema: z.ZodType<Value>,
  init?: ApiRequestOptions,
) => Promise<ApiRequestResult<Value>>

const refusal = z.object({
  message: z.string().default("The service gave no reason."),
  code_name: z.string().default("internal"),
  details: z.array(z.object({ field: z.string(), message: z.string() })).default([]),
})

/**
 * Returns a function that sends API requests as a signed-in user. The requests count against the
 * limits of the user's plan.
 */
export function makeApiClient(
  send: SendRequestToApp,
  origin: string,
  { user, account }: SignedInUser,
): ApiClient {
  return async (path, schema, init = {}) => {
    const request = new Request(`${origin}/v1${path}`, requestInit(init))
    const answer = await send(markDashboardRequest(request, user.id, { account, key: null }))
    const { ok, status, headers } = answer
    const body: unknown = await answer.json()
    if (ok) return { ok, status, headers, value: schema.parse(body) }
    const { message, code_name: code, details: faults } = refusal.parse(body)
    return { ok: false, status, code, message, faults }
  }
}

/**
 * Returns the value of a successful API result. Throws the error of any other result, which becomes
 * an error page.
 */
export function unwrapApiResult<Value>(answer: ApiRequestResult<Value>): Value {
  if (answer.ok) return answer.value
  const { code, message, faults: details } = answer
  throw new Problem(isProblemCode(code) ? code : "internal", message, { details })
}

/** Returns the error message of a form field from an API result; null without an error. */
export function findFieldError<Value>(
  answer: ApiRequestResult<Value> | null,
  field: string,
): string | null {
  if (answer === null || answer.ok) return null
  const fault = answer.faults.find((one) => `${one.field}.`.startsWith(`${field}.`))
  return fault?.message ?? null
}

const BODY_HEADERS = ["content-type", "content-length"]

function requestInit({
  method = "GET",
  json,
  passedOn,
  headers: extraHeaders,
}: ApiRequestOptions): RequestInit {
  const headers = new Headers(extraHeaders)
  if (passedOn) {
    for (const name of BODY_HEADERS) {
      const value = passedOn.headers.get(name)
      if (value !== null) headers.set(name, value)
    }
    return { method, headers, body: passedOn.body }
  }
  if (json === undefined) return { method, headers }
  headers.set("content-type", "application/json")
  return { method, headers, body: JSON.stringify(json) }
}
