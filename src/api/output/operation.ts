import type { Hono } from "hono"
import { z } from "zod"
import { allowsScope } from "../../domain/scopes.ts"
import type { Scope } from "../../domain/scopes.ts"
import { readQuery } from "../input/query.ts"
import { requireNoBody } from "../input/request.ts"
import type { AppEnv, AppContext } from "../context.ts"
import { Problem } from "./problem.ts"
import type { ProblemCode } from "./problem.ts"

/** Schema of a request body, and a valid example. */
export type RequestBodySpec = { schema: z.ZodType; example: unknown }

/** Descriptions of request headers for the OpenAPI document. */
export const REQUEST_HEADER_DESCRIPTIONS = {
  "Idempotency-Key": "Creates with the same key within a day make one job, or one batch.",
  Prefer: "`wait=N`: wait for the end of the job or the batch, at most N seconds (60 at most).",
  "Last-Event-ID": "Id of the last event that the client received.",
  "Tus-Resumable": "Version of the tus protocol; `1.0.0`.",
  "Upload-Length": "Size of the file in bytes.",
  "Upload-Metadata":
    "Pairs of a name and a value in Base64, separated by commas: `filename`, `filetype`, and the fields of POST /files.",
  "Upload-Offset": "Number of bytes that the upload has.",
  "Upload-Checksum":
    "Algorithm and digest of the body in Base64, such as `sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=`.",
  "If-None-Match": "ETag of an earlier answer; the answer is a 304 while the tag holds.",
} as const

/** JSON body and additional headers of a successful response. */
export type OperationReply<Body = object> = { body: Body; headers?: Record<string, string> }

type OperationDescription = {
  method: "get" | "post" | "patch" | "delete"
  /** Path below /v1 with parameters in braces: `/commands/{id}`. */
  path: string
  operationId: string
  summary: string
  description?: string
  /** Group of the operation in the OpenAPI document. */
  tag: string
  /** Whether the operation needs no API key. */
  isOpen?: boolean
  /** Scope that an API key needs; by default `read` for GET and `write` for other methods. */
  scope?: Scope
  headers?: readonly (keyof typeof REQUEST_HEADER_DESCRIPTIONS)[]
  /** Headers that a request must have, with the values of a valid request. */
  requiredHeaders?: { [Name in keyof typeof REQUEST_HEADER_DESCRIPTIONS]?: string }
  /** Request bodies by media type. */
  bodies?: { [mediaType: string]: RequestBodySpec }
  /** Whether the body may be missing; a missing body counts as an empty object. */
  isBodyOptional?: boolean
  /** Whether invalid fields cause a 400 instead of the usual 422. */
  isJobForm?: boolean
  /** Error codes of the operation, in addition to the codes that every operation may return. */
  errors?: readonly ProblemCode[]
  /** Path and query parameters of a valid request. */
  example?: { [parameter: string]: string }
}

/** Response of a successful operation; `schema` is null for a response without JSON. */
type Success<Answer> = {
  status: 200 | 201 | 202 | 204 | 302
  description: string
  schema: Answer | null
  mediaType?: string
  /** Descriptions of response headers. */
  headers?: { [name: string]: string }
}

/** Arguments of `defineOperation`; the schemas determine the types of the handler. */
type Specification<
  Query extends z.ZodObject,
  Answer extends z.ZodType<object>,
> = OperationDescription & {
  /** Schema of the query parameters; unknown parameters are refused. */
  query: Query
  answer: Success<Answer>
  /**
   * Changes an error of the operation, such as an invalid query, before the error is sent to the
   * caller.
   */
  mapProblem?: (c: AppContext, problem: Problem) => Promise<Problem>
  handle: (
    c: AppContext,
    query: z.output<Query>,
  ) =>
    | Promise<OperationReply<z.output<Answer>> | Response>
    | OperationReply<z.output<Answer>>
    | Response
}

/** Operation of the API: its route, handler, schemas and part of the OpenAPI document. */
export type Operation = OperationDescription & {
  query: z.ZodObject
  answer: Success<z.ZodType>
  respond: (c: AppContext) => Promise<Response>
}

export const emptyQuerySchema = z.object({})

/**
 * Defines an operation of the API. The operation checks the key's scope and parses the query before
 * its handler runs.
 */
export function defineOperation<Query extends z.ZodObject, Answer extends z.ZodType<object>>(
  specification: Specification<Query, Answer>,
): Operation {
  const { handle, mapProblem, ...facts } = specification
  async function answer(c: AppContext): Promise<Response> {
    const query = readQuery(specification.query, c)
    if (facts.method === "post" && !facts.bodies) await requireNoBody(c)
    const reply = await handle(c, query)
    if (reply instanceof Response) return reply
    const { status } = facts.answer
    if (status === 204) return c.body(null, status, reply.headers)
    return c.json<object>(reply.body, status, reply.headers)
  }
  async function respond(c: AppContext): Promise<Response> {
    try {
      requireScope(c, facts)
      return await answer(c)
    } catch (error) {
      throw mapProblem && error instanceof Problem ? await mapProblem(c, error) : error
    }
  }
  return { ...facts, respond }
}

/** Returns the scope that an API key needs for an operation. */
export function getRequiredScope({
  method,
  scope,
}: Pick<OperationDescription, "method" | "scope">): Scope {
  return scope ?? (method === "get" ? "read" : "write")
}

/** Throws 403 if the API key lacks the scope of an operation. Signed-in users need no scope. */
function requireScope(c: AppContext, facts: OperationDescription): void {
  const key = facts.isOpen ? null : c.get("key")
  const needed = getRequiredScope(facts)
  if (!key || allowsScope(key.scopes, needed)) return
  const scopes = key.scopes.join(", ")
  throw new Problem(
    "scope_missing",
    `The request needs a key with the scope ${needed}; this key has ${scopes}. Create a key in the dashboard, by POST /v1/keys with an admin key, or by npm run keys on the machine of the service.`,
    {
      headers: {
        "www-authenticate": `Bearer realm="lathe", error="insufficient_scope", scope="${needed}"`,
      },
    },
  )
}

/**
 * Adds the routes of operations to an app. A request with another method gets a 405 with the header
 * `Allow`.
 */
export function mountOperations(app: Hono<AppEnv>, operations: readonly Operation[]): void {
  const byPath = Map.groupBy(operations, ({ path }) => path)
  // Add literal paths first: otherwise the parameter of another path would match the last segment
  // of a literal path.
  for (const path of [...byPath.keys()].toSorted(compareParameterCounts)) {
    const route = path.replaceAll(/\{(\w+)\}/g, ":$1")
    const group = byPath.get(path) ?? []
    for (const { method, respond } of group) app.on(method, [route], respond)
    const methods = group.map(({ method }) => method.toUpperCase())
    const wider = operations.filter((other) => covers(other.path, path))
    const widerMethods = new Set(wider.map(({ method }) => method.toUpperCase()))
    const above = path.slice(0, path.lastIndexOf("/"))
    const isCollection = byPath.get(above)?.some(({ method }) => method === "post") ?? false
    const collectionPath = isCollection ? above : null
    app.all(route, async (c, next) => {
      if (!widerMethods.has(c.req.method === "HEAD" ? "GET" : c.req.method)) {
        throwMethodNotAllowed(c, methods, collectionPath)
      }
      await next()
      // A path with a parameter in place of a literal segment also matched, and its handler found
      // no resource. The literal path exists for other methods, so the 404 becomes a 405.
      if (c.error instanceof Problem && c.error.code === "not_found") {
        throwMethodNotAllowed(c, methods, collectionPath)
      }
    })
  }
}

/**
 * Reports whether the path pattern `wider` also matches requests to `path`. A parameter matches any
 * segment, except that `{id}` matches no literal segment.
 */
function covers(wider: string, path: string): boolean {
  const words = path.split("/")
  const others = wider.split("/")
  if (wider === path || others.length !== words.length) return false
  return others.every((word, at) => word === words[at] || (word.startsWith("{") && word !== "{id}"))
}

/**
 * Throws 405 with the allowed methods. `collectionPath` is the path below /v1 at which a POST
 * creates a resource; null without a collection.
 */
export function throwMethodNotAllowed(
  c: AppContext,
  methods: readonly string[],
  collectionPath: string | null = null,
): never {
  const all = new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : [])])
  const allow = [...all].toSorted().join(", ")
  const isSending = /^(?:POST|PUT|PATCH)$/.test(c.req.method)
  const remedy =
    collectionPath !== null && isSending
      ? `; to create a record, send POST to \`/v1${collectionPath}\``
      : ""
  const message = `The path does not take ${c.req.method}; use ${allow}${remedy}.`
  throw new Problem("method_not_allowed", message, { headers: { allow } })
}

function compareParameterCounts(one: string, other: string): number {
  return one.split("{").length - other.split("{").length
}
