import { z } from "zod"
import { createDocument } from "zod-openapi"
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from "zod-openapi"
import { PROBLEMS } from "./problem.ts"
import type { ProblemCode } from "./problem.ts"
import { REQUEST_HEADERS } from "./operation.ts"
import type { Operation } from "./operation.ts"

const VERSION = "1.0.0"

const codes = Object.keys(PROBLEMS)

const shared = {
  message: z.string(),
  type: z.string().meta({ description: "A page that says what the code means." }),
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
        code: z.string(),
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
      description: "A media-processing API: files in, FFmpeg commands over them, results out.",
    },
    servers: [{ url: "/v1" }],
    security: [{ header: [] }, { bearer: [] }, { query: [] }],
    paths,
    components: {
      securitySchemes: {
        header: { type: "apiKey", in: "header", name: "X-API-KEY" },
        bearer: { type: "http", scheme: "bearer" },
        query: { type: "apiKey", in: "query", name: "key" },
      },
    },
  })
}

function describe(described: Operation): ZodOpenApiOperationObject {
  const { operationId, summary, description, tag, isOpen, answer } = described
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    ...(isOpen && { security: [] }),
    requestParams: parametersOf(described),
    ...requestBodyOf(described),
    responses: {
      [String(answer.status)]: successOf(described),
      ...errorsOf(described),
    },
  }
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

function requestBodyOf({ bodies }: Operation): Pick<ZodOpenApiOperationObject, "requestBody"> {
  return bodies ? { requestBody: { required: true, content: bodies } } : {}
}

function successOf({ answer }: Operation): ZodOpenApiResponseObject {
  const { description, schema, mediaType = "application/json", headers = {} } = answer
  const streamed = answer.mediaType === undefined ? {} : { [mediaType]: {} }
  return {
    description,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, text]) => [
        name,
        { description: text, schema: { type: "string" as const } },
      ]),
    ),
    content: schema ? { [mediaType]: { schema } } : streamed,
  }
}

/** Errors by status; those of one status share a response. */
function errorsOf(described: Operation): Record<string, ZodOpenApiResponseObject> {
  const { isOpen = false, isJobForm = false, errors = [], method } = described
  const withKey: ProblemCode[] = ["invalid_request", "invalid_token", "rate_limit_exceeded"]
  const ofWrites: ProblemCode[] = method === "get" ? [] : ["storage_full"]
  const shared: ProblemCode[] = ["internal", ...(isOpen ? [] : withKey)]
  const ofFields: ProblemCode[] = isJobForm ? [] : ["unprocessable"]
  const all = [...errors, ...ofWrites, ...ofFields, ...shared]
  const byStatus = Map.groupBy(new Set(all), (code) => PROBLEMS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, those]) => [
      String(status),
      {
        description: those.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(" "),
        content: {
          "application/json": { schema: status === 422 ? validationError : errorBody },
        },
      },
    ]),
  )
}
