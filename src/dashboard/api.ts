import { z } from "zod"
import { actFor } from "../http/auth.ts"
import { isProblemCode, Problem } from "../http/problem.ts"
import type { SignedIn } from "../auth/session.ts"

/** Sends a request to the service itself, without a network in between. */
export type Send = (request: Request) => Promise<Response>

/** The answer of an operation: its value, or the sentence and the faults of its refusal. */
export type ApiAnswer<Value> =
  | { ok: true; status: number; value: Value; headers: Headers }
  | { ok: false; status: number; code: string; message: string; faults: ApiFault[] }

export type ApiFault = { field: string; message: string }

/** What is asked beside the path: a JSON body, or the body of a request that is passed on as it comes. */
export type ApiInit = {
  method?: string
  json?: unknown
  passedOn?: Request
  headers?: Record<string, string>
}

/** Asks an operation below /v1 as the user of the page. */
export type Api = <Value>(
  path: string,
  schema: z.ZodType<Value>,
  init?: ApiInit,
) => Promise<ApiAnswer<Value>>

const refusal = z.object({
  message: z.string().default("The service did not say why."),
  code_name: z.string().default("internal"),
  details: z.array(z.object({ field: z.string(), message: z.string() })).default([]),
})

/** The operations of the interface, asked as a user; they count against the limits of the plan. */
export function apiOf(send: Send, origin: string, { user, account }: SignedIn): Api {
  return async (path, schema, init = {}) => {
    const request = new Request(`${origin}/v1${path}`, requestInit(init))
    const answer = await send(actFor(request, user.id, { account, key: null }))
    const { ok, status, headers } = answer
    const body: unknown = await answer.json()
    if (ok) return { ok, status, headers, value: schema.parse(body) }
    const { message, code_name: code, details: faults } = refusal.parse(body)
    return { ok: false, status, code, message, faults }
  }
}

/** What an operation answered; its refusal is thrown, for the page that says what went wrong. */
export function valueOf<Value>(answer: ApiAnswer<Value>): Value {
  if (answer.ok) return answer.value
  const { code, message, faults: details } = answer
  throw new Problem(isProblemCode(code) ? code : "internal", message, { details })
}

/** What is wrong with a field of a form, as the operation said it; null where nothing is. */
export function faultOf<Value>(answer: ApiAnswer<Value> | null, field: string): string | null {
  if (answer === null || answer.ok) return null
  const fault = answer.faults.find((one) => `${one.field}.`.startsWith(`${field}.`))
  return fault?.message ?? null
}

const BODY_HEADERS = ["content-type", "content-length"]

function requestInit({ method = "GET", json, passedOn, headers: given }: ApiInit): RequestInit {
  const headers = new Headers(given)
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
