import { Validator } from "@seriousme/openapi-schema-validator"
import { describe, expect, it, vi } from "vitest"
import { z } from "zod"
import { makeOpenApiDocument } from "../../../src/api/output/openapi.ts"
import { getRequiredScope } from "../../../src/api/output/operation.ts"
import { PROBLEMS } from "../../../src/api/output/problem.ts"
import { OPERATIONS } from "../../../src/api/routes/operations.ts"
import { JOB_LIST_KIND_NAMES } from "../../../src/kinds/registry.ts"
import { EVENT_TYPES, TEST_EVENT_TYPE } from "../../../src/webhooks/event-types.ts"

// Handlers of operations import this module; no handler is called here.
vi.mock("cloudflare:workers", () => ({ waitUntil: vi.fn() }))

const METHODS = ["get", "post", "patch", "delete"] as const

const content = z.record(z.string(), z.looseObject({ example: z.unknown().optional() }))

const described = z.looseObject({
  operationId: z.string(),
  summary: z.string().min(1),
  tags: z.array(z.string()).length(1),
  security: z.array(z.unknown()).optional(),
  parameters: z
    .array(
      z.looseObject({
        name: z.string(),
        in: z.enum(["path", "query", "header"]),
        schema: z.looseObject({ example: z.unknown().optional() }),
      }),
    )
    .default([]),
  requestBody: z.looseObject({ content }).optional(),
  responses: z.record(
    z.string(),
    z.looseObject({
      description: z.string().min(1),
      headers: z.record(z.string(), z.unknown()).default({}),
    }),
  ),
})

const event = z.object({
  post: z.looseObject({
    operationId: z.string(),
    description: z.string(),
    security: z.array(z.unknown()),
    parameters: z.array(z.looseObject({ name: z.string(), required: z.boolean().optional() })),
    requestBody: z.object({
      required: z.literal(true),
      content: z.object({
        "application/json": z.object({
          schema: z.looseObject({
            properties: z.object({ type: z.unknown(), timestamp: z.unknown(), data: z.unknown() }),
          }),
        }),
      }),
    }),
    responses: z.record(z.string(), z.unknown()),
  }),
})

const openapi = z.looseObject({
  openapi: z.string(),
  servers: z.array(z.unknown()),
  security: z.array(z.unknown()).min(1),
  paths: z.record(z.string(), z.partialRecord(z.enum(METHODS), described)),
})

/** OpenAPI document as callers receive it. */
const sent = z
  .record(z.string(), z.unknown())
  .parse(JSON.parse(JSON.stringify(makeOpenApiDocument(OPERATIONS))))
const document = openapi.parse(sent)

const operations = OPERATIONS.map((operation) => {
  const found = document.paths[operation.path]?.[operation.method]
  return [operation.operationId, operation, found ?? null] as const
})

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(structuredClone(sent))
    expect(errors ?? []).toEqual([])
    expect([valid, validator.version]).toEqual([true, "3.1"])
    expect(document.openapi).toBe("3.1.0")
  })

  it("has the version in its server and not in its paths", () => {
    expect(document.servers).toEqual([{ url: "/v1" }])
    for (const path of Object.keys(document.paths)) expect(path).toMatch(/^\/(?!v1\b)/)
  })

  it("has exactly the operations of the API, with unique ids", () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((each) => each?.operationId),
    )
    expect(ids.toSorted()).toEqual(OPERATIONS.map(({ operationId }) => operationId).toSorted())
    expect(new Set(ids).size).toBe(ids.length)
  })

  it.each(["schemas", "headers"] as const)("refers only to %s that it contains", (room) => {
    const text = JSON.stringify(sent)
    const parts = z.record(z.string(), z.unknown())
    const { components } = z
      .looseObject({ components: z.looseObject({ schemas: parts, headers: parts }) })
      .parse(sent)
    const references = text.matchAll(new RegExp(`"#/components/${room}/([^"]+)"`, "g"))
    const named = new Set([...references].map(([, name]) => name))
    expect(named).toEqual(new Set(Object.keys(components[room])))
  })
})

describe("the webhooks of the OpenAPI document", () => {
  const { webhooks } = z.looseObject({ webhooks: z.record(z.string(), event) }).parse(sent)

  it("are the events of every listed kind of job, of batches, and the test", () => {
    expect(Object.keys(webhooks)).toEqual([...EVENT_TYPES, TEST_EVENT_TYPE])
    for (const kind of JOB_LIST_KIND_NAMES) expect(webhooks).toHaveProperty([`${kind}.canceled`])
    expect(JSON.stringify(webhooks)).not.toContain("metadata.succeeded")
    const ids = Object.values(webhooks).map(({ post }) => post.operationId)
    expect(new Set([...ids, ...OPERATIONS.map(({ operationId }) => operationId)]).size).toBe(
      ids.length + OPERATIONS.length,
    )
  })

  it.each([
    ["command.succeeded", ["Command", "Job", "TruncatedRecord"]],
    ["file.failed", ["File", "Job", "TruncatedRecord"]],
    ["transcode.canceled", ["Job", "TruncatedRecord"]],
    ["batch.failed", ["Batch", "TruncatedRecord"]],
  ])("%s has the records %j as its data", (type, records) => {
    const schema = webhooks[type]?.post.requestBody.content["application/json"].schema
    expect(schema?.properties.type).toEqual({ type: "string", const: type })
    const references = records.map((name) => ({ $ref: `#/components/schemas/${name}` }))
    expect(schema?.properties.data).toEqual({ anyOf: references })
  })

  it.each(Object.entries(webhooks))("%s documents its headers and its answers", (_, { post }) => {
    expect(post.parameters.map(({ name, required = false }) => [name, required])).toEqual([
      ["webhook-id", true],
      ["webhook-timestamp", true],
      ["webhook-signature", true],
      ["x-request-id", false],
    ])
    expect(Object.keys(post.responses)).toEqual(["410", "2XX", "default"])
    expect(post.description).toContain("within 15 seconds")
    expect(post.description).toContain("5, 300, 1800, 7200, 18000, 36000, 36000 seconds")
    expect(post.security).toEqual([])
  })
})

describe("an operation of the OpenAPI document", () => {
  it.each(operations)("%s documents its security and its errors", (_, operation, found) => {
    const { isOpen = false, isJobForm = false, answer, errors = [], bodies, headers } = operation
    const scope = isOpen ? undefined : getRequiredScope(operation)
    const places = scope ? ["header", "bearer", "query"].map((name) => ({ [name]: [scope] })) : []
    expect([found?.security, found?.["x-scope"]]).toEqual([places, scope])
    const withKey = isOpen ? [] : [400, 401, 403, 429, 503]
    const ofWrites = operation.method === "get" ? [] : [507]
    const statuses = new Set([
      answer.status,
      ...(headers?.includes("If-None-Match") ? [304] : []),
      ...errors.map((code) => PROBLEMS[code].status),
      ...withKey,
      ...(isJobForm && !bodies ? [] : [422]),
      431,
      500,
      ...ofWrites,
    ])
    expect(Object.keys(found?.responses ?? {}).toSorted()).toEqual(
      [...statuses].map(String).toSorted(),
    )
  })

  it.each(operations)("%s documents the headers of the rate limit", (_, operation, found) => {
    const { isOpen = false, answer, errors = [] } = operation
    const allowance = isOpen ? [] : ["RateLimit", "RateLimit-Policy"]
    const ofSuccess = Object.keys(found?.responses[answer.status]?.headers ?? {})
    expect(ofSuccess.filter((name) => name.startsWith("RateLimit"))).toEqual(allowance)
    const ofRefusal = Object.keys(found?.responses["429"]?.headers ?? {})
    const isLimited = !isOpen || errors.includes("rate_limit_exceeded")
    expect(ofRefusal).toEqual(isLimited ? [...allowance, "Retry-After"] : [])
  })

  it.each(operations)("%s has examples of its required inputs", (_, operation, found) => {
    const inPath = found?.parameters.filter((parameter) => parameter.in === "path") ?? []
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(inPath.map(({ name }) => name)).toEqual(names)
    for (const { schema } of inPath) expect(schema.example).toEqual(expect.any(String))
    const bodies = Object.entries(operation.bodies ?? {})
    const contents = found?.requestBody?.content ?? {}
    expect(Object.keys(contents)).toEqual(bodies.map(([type]) => type))
    for (const [type, { example }] of bodies) expect(contents[type]?.example).toEqual(example)
  })

  it.each(operations)("%s documents its query and its headers", (_, operation, found) => {
    function named(place: string): string[] {
      return (found?.parameters ?? []).filter((each) => each.in === place).map(({ name }) => name)
    }
    expect(named("query")).toEqual(Object.keys(operation.query.shape))
    expect(named("header")).toEqual(operation.headers ?? [])
  })
})
