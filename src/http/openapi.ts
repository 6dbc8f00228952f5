import { z } from "zod"
import { createDocument } from "zod-openapi"
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from "zod-openapi"
import { PROBLEMS } from "./problem.ts"
import type { ProblemCode } from "./problem.ts"
import { REQUEST_HEADERS, scopeOf } from "./operation.ts"
import type { Operation } from "./operation.ts"

const VERSION = "1.0.0"

const KEY = "A key of the account. The role that an operation names is the scope it must have."

/** Where a key may stand. */
const SECURITY_SCHEMES = {
  header: { type: "apiKey", in: "header", name: "X-API-KEY", description: KEY },
  bearer: { type: "http", scheme: "bearer", description: KEY },
  query: { type: "apiKey", in: "query", name: "key", description: KEY },
} as const

/** Headers of answers that several operations have; those of the limit are on every answer to a key. */
const HEADERS = {
  RateLimit: {
    description: "Requests that the key has left, and seconds until it has all of them again.",
    schema: { type: "string" },
    example: '"requests";r=19999;t=60',
  },
  "RateLimit-Policy": {
    description: "How many requests the key may make in how many seconds.",
    schema: { type: "string" },
    example: '"requests";q=20000;w=60',
  },
  "Retry-After": {
    description: "Seconds to wait.",
    schema: { type: "string" },
    example: "30",
  },
} as const

const ALLOWANCE = ["RateLimit", "RateLimit-Policy"] as const

const codes = Object.keys(PROBLEMS)

const CODE = "It has a page below [/docs/errors/](/docs/errors/)."

const shared = {
  message: z.string(),
  type: z
    .string()
    .meta({ description: "The address of a page that says what the code means and what to do." }),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code_name: z.enum(codes),
  request_id: z.string(),
}

/** The body of every error but 422. */
const errorBody = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      retry_after: z.int().optional().meta({ description: "Seconds to wait." }),
    }),
    code: z.enum(codes),
    ...shared,
  })
  .meta({ id: "Error" })

/** The body of a 422. */
const validationError = z
  .object({
    error: z.literal("validation_error"),
    code: z.literal(422),
    details: z.array(
      z.object({
        field: z.string(),
        message: z.string(),
        code: z.string().meta({ description: CODE }),
        option: z.string().optional(),
      }),
    ),
    ...shared,
  })
  .meta({ id: "ValidationError" })

/** The OpenAPI document of operations; paths stand without the version, which `servers` has. */
export function describeOperations(operations: readonly Operation[]) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const described of operations) {
    const path = (paths[described.path] ??= {})
    path[described.method] = describe(described)
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Lathe",
      version: VERSION,
      description:
        "A media-processing API: files in, FFmpeg commands over them, results out. Every error code has [a page](/docs/errors/).",
    },
    servers: [{ url: "/v1" }],
    security: Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] })),
    paths,
    components: { securitySchemes: SECURITY_SCHEMES, headers: HEADERS },
  })
}

function describe(described: Operation): ZodOpenApiOperationObject {
  const { operationId, summary, description, tag, answer } = described
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    ...securityOf(described),
    requestParams: parametersOf(described),
    ...requestBodyOf(described),
    responses: {
      [String(answer.status)]: successOf(described),
      ...errorsOf(described),
    },
  }
}

/** The scope that an operation needs, as the roles of OpenAPI 3.1 and in a member of its own. */
function securityOf(
  described: Operation,
): Pick<ZodOpenApiOperationObject, "security" | `x-${string}`> {
  if (described.isOpen) return { security: [] }
  const scope = scopeOf(described)
  const security = Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [scope] }))
  return { security, "x-scope": scope }
}

function parametersOf({ path, query, headers = [], example = {} }: Operation) {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
    const schema = name === "id" ? z.uuid() : z.string().min(1)
    return [name, schema.meta({ example: example[name] })] as const
  })
  const inHeaders = headers.map(
    (name) => [name, z.string().optional().meta({ description: REQUEST_HEADERS[name] })] as const,
  )
  return {
    path: z.object(Object.fromEntries(inPath)),
    query,
    header: z.object(Object.fromEntries(inHeaders)),
  }
}

function requestBodyOf({
  bodies,
  isBodyOptional = false,
}: Operation): Pick<ZodOpenApiOperationObject, "requestBody"> {
  return bodies ? { requestBody: { required: !isBodyOptional, content: bodies } } : {}
}

function successOf({ answer, isOpen = false }: Operation): ZodOpenApiResponseObject {
  const { description, schema, mediaType = "application/json", headers = {} } = answer
  const streamed = answer.mediaType === undefined ? {} : { [mediaType]: {} }
  return {
    description,
    headers: {
      ...Object.fromEntries(
        Object.entries(headers).map(([name, text]) => [
          name,
          { description: text, schema: { type: "string" as const } },
        ]),
      ),
      ...(!isOpen && referencesTo(ALLOWANCE)),
    },
    content: schema ? { [mediaType]: { schema } } : streamed,
  }
}

function referencesTo(names: readonly (keyof typeof HEADERS)[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Errors by status; those of one status share a response. */
function errorsOf(described: Operation): Record<string, ZodOpenApiResponseObject> {
  const { isOpen = false, isJobForm = false, errors = [], method, bodies } = described
  const withKey: ProblemCode[] = [
    "invalid_request",
    "invalid_token",
    "scope_missing",
    "account_suspended",
    "rate_limit_exceeded",
    "unavailable",
  ]
  const ofWrites: ProblemCode[] = method === "get" ? [] : ["storage_full"]
  const shared: ProblemCode[] = ["headers_too_large", "internal", ...(isOpen ? [] : withKey)]
  const ofFields: ProblemCode[] = [
    ...(isJobForm ? [] : (["unprocessable"] as const)),
    ...(bodies ? (["too_complex"] as const) : []),
  ]
  const all = [...errors, ...ofWrites, ...ofFields, ...shared]
  const byStatus = Map.groupBy(new Set(all), (code) => PROBLEMS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, those]) => [
      String(status),
      {
        description: those
          .map((code) => `[\`${code}\`](/docs/errors/${code}): ${PROBLEMS[code].title}.`)
          .join(" "),
        ...(status === 429 && { headers: referencesTo([...ALLOWANCE, "Retry-After"]) }),
        content: {
          "application/json": { schema: status === 422 ? validationError : errorBody },
        },
      },
    ]),
  )
}
