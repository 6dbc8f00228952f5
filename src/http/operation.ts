import type { Hono } from "hono"
import { z } from "zod"
import type { Fault } from "../faults.ts"
import { allowsScope } from "../scopes.ts"
import type { Scope } from "../scopes.ts"
import { meantParameter } from "../hints/field-names.ts"
import { faultsOf, requireNoBody } from "./request.ts"
import type { App, AppContext } from "./request.ts"
import { Problem, unprocessables } from "./problem.ts"
import type { ProblemCode } from "./problem.ts"

/** A body that a request may have: its schema, and a request that works. */
export type RequestBody = { schema: z.ZodType; example: unknown }

/** Request headers that single operations honour, by name. */
export const REQUEST_HEADERS = {
  "Idempotency-Key": "Sent again with the same key within a day, a create makes one job.",
  Prefer: "`wait=N`: answer once the job is final, or after N seconds (at most 60).",
  "Last-Event-ID": "The id of the last event that was received.",
} as const

/** The body of a success, with headers beside those that every answer has. */
export type Reply<Body = object> = { body: Body; headers?: Record<string, string> }

type Facts = {
  method: "get" | "post" | "delete"
  /** Below /v1, parameters in braces: `/commands/{id}`. */
  path: string
  operationId: string
  summary: string
  description?: string
  /** What the operation is listed under. */
  tag: string
  /** Answers without an API key. */
  isOpen?: boolean
  /** The scope that a key needs; without it GET needs `read`, and all else `write`. */
  scope?: Scope
  headers?: readonly (keyof typeof REQUEST_HEADERS)[]
  /** Bodies by media type. */
  bodies?: { [mediaType: string]: RequestBody }
  /** Whether a request without a body is one with an empty object. */
  isBodyOptional?: boolean
  /** Whether all that is wrong with a request is a 400, and nothing a 422. */
  isJobForm?: boolean
  /** Errors beside those that every operation has. */
  errors?: readonly ProblemCode[]
  /** Values of path and query parameters of a request that works. */
  example?: { [parameter: string]: string }
}

/** The answer of a success; a schema of null is an answer without JSON. */
type Success<Answer> = {
  status: 200 | 201 | 202 | 302
  description: string
  schema: Answer | null
  mediaType?: string
  /** Response headers and what they say. */
  headers?: { [name: string]: string }
}

/** An operation as it is written: its handler is typed by its own schemas. */
type Specification<Query extends z.ZodObject, Answer extends z.ZodType<object>> = Facts & {
  /** Query parameters; others are refused. */
  query: Query
  answer: Success<Answer>
  /** Another way to tell a problem of the request, its query included. */
  retell?: (c: AppContext, problem: Problem) => Promise<Problem>
  handle: (
    c: AppContext,
    query: z.output<Query>,
  ) => Promise<Reply<z.output<Answer>> | Response> | Reply<z.output<Answer>> | Response
}

/**
 * One operation of the interface: its route, its part of the OpenAPI document, and the schemas
 * that both come from.
 */
export type Operation = Facts & {
  query: z.ZodObject
  answer: Success<z.ZodType>
  respond: (c: AppContext) => Promise<Response>
}

export const NO_QUERY = z.object({})

/** Makes an operation whose handler reads its query, and answers, as its schemas say. */
export function operation<Query extends z.ZodObject, Answer extends z.ZodType<object>>(
  specified: Specification<Query, Answer>,
): Operation {
  const { handle, retell, ...facts } = specified
  async function answer(c: AppContext): Promise<Response> {
    const query = readQuery(specified.query, c)
    if (facts.method === "post" && !facts.bodies) await requireNoBody(c)
    const reply = await handle(c, query)
    if (reply instanceof Response) return reply
    return c.json<object>(reply.body, facts.answer.status, reply.headers)
  }
  async function respond(c: AppContext): Promise<Response> {
    try {
      requireScope(c, facts)
      return await answer(c)
    } catch (error) {
      throw retell && error instanceof Problem ? await retell(c, error) : error
    }
  }
  return { ...facts, respond }
}

/** The scope that a key needs for an operation. */
export function scopeOf({ method, scope }: Pick<Facts, "method" | "scope">): Scope {
  return scope ?? (method === "get" ? "read" : "write")
}

/** Refuses a key whose scopes do not allow an operation. A user may do all that the account may. */
function requireScope(c: AppContext, facts: Facts): void {
  const key = facts.isOpen ? null : c.get("key")
  const needed = scopeOf(facts)
  if (!key || allowsScope(key.scopes, needed)) return
  const held = key.scopes.join(", ")
  throw new Problem(
    "scope_missing",
    `This needs a key with the scope ${needed}; this one has ${held}. Make one in the dashboard, by POST /v1/keys with a key that has the scope admin, or by npm run keys where you run the service.`,
    {
      headers: {
        "www-authenticate": `Bearer realm="lathe", error="insufficient_scope", scope="${needed}"`,
      },
    },
  )
}

/** Query parameters that every route takes: a key may stand there, and links carry the other. */
const SHARED_PARAMETERS = new Set(["key", "disposition"])

/** Mounts operations on an app; other methods of their paths answer 405 with `Allow`. */
export function mountOperations(app: Hono<App>, operations: readonly Operation[]): void {
  const byPath = Map.groupBy(operations, ({ path }) => path)
  // A path without parameters comes first, so that none of its words is taken for one.
  for (const path of [...byPath.keys()].toSorted(byParameters)) {
    const route = path.replaceAll(/\{(\w+)\}/g, ":$1")
    const those = byPath.get(path) ?? []
    for (const { method, respond } of those) app.on(method, [route], respond)
    const methods = those.map(({ method }) => method.toUpperCase())
    const wider = operations.filter((other) => covers(other.path, path))
    const passed = new Set(wider.map(({ method }) => method.toUpperCase()))
    const above = path.slice(0, path.lastIndexOf("/"))
    const isMadeAbove = byPath.get(above)?.some(({ method }) => method === "post") ?? false
    const maker = isMadeAbove ? above : null
    app.all(route, async (c, next) => {
      if (!passed.has(c.req.method === "HEAD" ? "GET" : c.req.method)) {
        refuseMethod(c, methods, maker)
      }
      await next()
      // The word of this path is no name of anything.
      if (c.error instanceof Problem && c.error.code === "not_found") {
        refuseMethod(c, methods, maker)
      }
    })
  }
}

/** Whether a path is one of a wider one, whose parameters may be any words; an id is none. */
function covers(wider: string, path: string): boolean {
  const words = path.split("/")
  const others = wider.split("/")
  if (wider === path || others.length !== words.length) return false
  return others.every((word, at) => word === words[at] || (word.startsWith("{") && word !== "{id}"))
}

/**
 * Refuses a method that a path does not take, and names those that it does; `maker` is the path below /v1
 * that makes what this one names.
 */
export function refuseMethod(
  c: AppContext,
  methods: readonly string[],
  maker: string | null = null,
): never {
  const all = new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : [])])
  const allow = [...all].toSorted().join(", ")
  const isSending = /^(?:POST|PUT|PATCH)$/.test(c.req.method)
  const remedy = maker !== null && isSending ? `; to make one, POST to \`/v1${maker}\`` : ""
  const message = `${c.req.method} is not for this path; it takes ${allow}${remedy}.`
  throw new Problem("method_not_allowed", message, { headers: { allow } })
}

function readQuery<Query extends z.ZodObject>(schema: Query, c: AppContext): z.output<Query> {
  const given = Object.entries(c.req.query()).filter(
    ([name]) => Object.hasOwn(schema.shape, name) || !SHARED_PARAMETERS.has(name),
  )
  const unknown = given.filter(([name]) => !Object.hasOwn(schema.shape, name))
  const repeated = Object.entries(c.req.queries()).filter(
    ([name, values]) => Object.hasOwn(schema.shape, name) && values.length > 1,
  )
  const value = Object.fromEntries(given)
  const parsed = schema.safeParse(value)
  const faults: Fault[] = [
    ...unknown.map(([field]) => ({ field, message: describeUnknownParameter(field, schema) })),
    ...repeated.map(([field, values]) => ({
      field,
      message: `it is given ${values.length} times; give it once`,
    })),
    ...(parsed.error ? faultsOf(parsed.error, schema, { value }) : []),
  ]
  if (!parsed.success || faults.length > 0) throw unprocessables(faults)
  return parsed.data
}

function describeUnknownParameter(name: string, { shape }: z.ZodObject): string {
  const names = Object.keys(shape)
  const meant = meantParameter(name, names)
  if (meant !== null) return `there is no such query parameter; did you mean \`${meant}\`?`
  const list = names.map((each) => `\`${each}\``).join(", ")
  const taken = names.length === 0 ? "; the path takes none" : `; the path takes ${list}`
  const isOfUrl = names.includes("url") ? ", whose own `&` is to be written `%26`" : ""
  return `there is no such query parameter${taken}${isOfUrl}`
}

function byParameters(one: string, other: string): number {
  return one.split("{").length - other.split("{").length
}
