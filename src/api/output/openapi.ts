import { z } from "zod"
import { createDocument } from "zod-openapi"
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from "zod-openapi"
import { PROBLEMS } from "./problem.ts"
import type { ProblemCode } from "./problem.ts"
import { REQUEST_HEADER_DESCRIPTIONS, getRequiredScope } from "./operation.ts"
import type { Operation } from "./operation.ts"
import { makeOpenApiWebhooks, TRUNCATED_RECORD_SCHEMA } from "./webhook-events.ts"

const VERSION = "1.0.0"

const KEY_DESCRIPTION =
  "API key of the account. The role of an operation is the scope that the key needs."

/** OpenAPI security schemes: the places in a request that may hold the API key. */
const SECURITY_SCHEMES = {
  header: { type: "apiKey", in: "header", name: "X-API-KEY", description: KEY_DESCRIPTION },
  bearer: { type: "http", scheme: "bearer", description: KEY_DESCRIPTION },
  query: { type: "apiKey", in: "query", name: "key", description: KEY_DESCRIPTION },
} as const

/**
 * Descriptions of response headers. Every response to an authenticated caller has the rate limit
 * headers.
 */
const HEADERS = {
  RateLimit: {
    description: "Requests left in the window, and seconds until the window renews.",
    schema: { type: "string" },
    example: '"requests";r=19999;t=60',
  },
  "RateLimit-Policy": {
    description: "Requests that the key may send in a window, and seconds of the window.",
    schema: { type: "string" },
    example: '"requests";q=20000;w=60',
  },
  "Retry-After": {
    description: "Seconds to wait.",
    schema: { type: "string" },
    example: "30",
  },
} as const

const RATE_LIMIT_HEADERS = ["RateLimit", "RateLimit-Policy"] as const

const codes = Object.keys(PROBLEMS)

const CODE_DESCRIPTION =
  "Code of the error. [/docs/errors/](/docs/errors/) has a page for each code."

const shared = {
  message: z.string(),
  details: z
    .array(
      z.object({
        field: z.string(),
        message: z.string(),
        code: z.string().meta({ description: CODE_DESCRIPTION }),
        option: z.string().optional(),
      }),
    )
    .meta({ description: "Faulty fields of the request; empty for other errors." }),
  type: z.string().meta({ description: "URL of the page that explains the code and its remedy." }),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code_name: z.enum(codes),
  request_id: z.string(),
}

/** Schema of the body of every error except 422. */
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

/** Schema of the body of a 422 error response. */
const validationError = z
  .object({
    error: z.literal("validation_error"),
    code: z.literal(422),
    ...shared,
  })
  .meta({ id: "ValidationError" })

/**
 * Returns the OpenAPI document of operations. The paths omit the version `/v1`, which is in
 * `servers`.
 */
export function makeOpenApiDocument(operations: readonly Operation[]) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {})
    path[operation.method] = describeOperation(operation)
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Lathe",
      version: VERSION,
      description:
        "An HTTP API for media: upload or import files, run FFmpeg on them, download the results. Each error code has [a page](/docs/errors/).",
    },
    servers: [{ url: "/v1" }],
    security: Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] })),
    paths,
    webhooks: makeOpenApiWebhooks(),
    components: {
      schemas: { TruncatedRecord: TRUNCATED_RECORD_SCHEMA },
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
    },
  })
}

function describeOperation(operation: Operation): ZodOpenApiOperationObject {
  const { operationId, summary, description, tag, answer } = operation
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    ...describeSecurity(operation),
    requestParams: describeParameters(operation),
    ...describeRequestBody(operation),
    responses: {
      [String(answer.status)]: describeSuccess(operation),
      ...describeNotModified(operation),
      ...describeErrors(operation),
    },
  }
}

/**
 * Describes the scope that an operation requires of the API key: as a role in the operation's
 * `security`, which OpenAPI allows since 3.1, and as `x-scope`.
 */
function describeSecurity(
  operation: Operation,
): Pick<ZodOpenApiOperationObject, "security" | `x-${string}`> {
  if (operation.isOpen) return { security: [] }
  const scope = getRequiredScope(operation)
  const security = Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [scope] }))
  return { security, "x-scope": scope }
}

function describeParameters(operation: Operation) {
  const { path, query, headers = [], requiredHeaders = {}, example = {} } = operation
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
    const schema = name === "id" ? z.uuid() : z.string().min(1)
    return [name, schema.meta({ example: example[name] })] as const
  })
  const inHeaders = headers.map((name) => {
    const description = REQUEST_HEADER_DESCRIPTIONS[name]
    const { [name]: value } = requiredHeaders
    const required = z.string().meta({ description, example: value })
    return [
      name,
      value === undefined ? z.string().optional().meta({ description }) : required,
    ] as const
  })
  return {
    path: z.object(Object.fromEntries(inPath)),
    query,
    header: z.object(Object.fromEntries(inHeaders)),
  }
}

function describeRequestBody({
  bodies,
  isBodyOptional = false,
}: Operation): Pick<ZodOpenApiOperationObject, "requestBody"> {
  return bodies ? { requestBody: { required: !isBodyOptional, content: bodies } } : {}
}

function describeSuccess({ answer, isOpen = false }: Operation): ZodOpenApiResponseObject {
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
      ...(!isOpen && referenceHeaders(RATE_LIMIT_HEADERS)),
    },
    content: schema ? { [mediaType]: { schema } } : streamed,
  }
}

/** Returns the 304 response of an operation that supports `If-None-Match`. */
function describeNotModified({
  headers = [],
}: Operation): Record<string, ZodOpenApiResponseObject> {
  if (!headers.includes("If-None-Match")) return {}
  return { "304": { description: "The answer still has the tag of `If-None-Match`." } }
}

function referenceHeaders(names: readonly (keyof typeof HEADERS)[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/**
 * Returns the error responses of an operation by HTTP status. Error codes with the same status
 * share a response.
 */
function describeErrors(operation: Operation): Record<string, ZodOpenApiResponseObject> {
  const { isOpen = false, isJobForm = false, errors = [], method, bodies } = operation
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
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes
          .map((code) => `[\`${code}\`](/docs/errors/${code}): ${PROBLEMS[code].title}.`)
          .join(" "),
        ...(status === 429 && {
          headers: referenceHeaders([...(isOpen ? [] : RATE_LIMIT_HEADERS), "Retry-After"]),
        }),
        content: {
          "application/json": { schema: status === 422 ? validationError : errorBody },
        },
      },
    ]),
  )
}
