import { Validator } from "@seriousme/openapi-schema-validator"
import { describe, expect, it, vi } from "vitest"
import { z } from "zod"
import { describeOperations } from "../../src/http/openapi.ts"
import { scopeOf } from "../../src/http/operation.ts"
import { PROBLEMS } from "../../src/http/problem.ts"
import { OPERATIONS } from "../../src/operations.ts"

// Handlers of operations import it; none of them is called here.
vi.mock("cloudflare:workers", () => ({ waitUntil: vi.fn() }))

const METHODS = ["get", "post", "delete"] as const

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

const openapi = z.looseObject({
  openapi: z.string(),
  servers: z.array(z.unknown()),
  security: z.array(z.unknown()).min(1),
  paths: z.record(z.string(), z.partialRecord(z.enum(METHODS), described)),
})

/** The document as it is sent. */
const sent = z
  .record(z.string(), z.unknown())
  .parse(JSON.parse(JSON.stringify(describeOperations(OPERATIONS))))
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

  it("has every operation and no other, each with an id of its own", () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((each) => each?.operationId),
    )
    expect(ids.toSorted()).toEqual(OPERATIONS.map(({ operationId }) => operationId).toSorted())
    expect(new Set(ids).size).toBe(ids.length)
  })

  it.each(["schemas", "headers"] as const)("refers to %s that it has", (room) => {
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

describe("an operation of the OpenAPI document", () => {
  it.each(operations)("%s says of keys and errors what holds", (_, operation, found) => {
    const { isOpen = false, isJobForm = false, answer, errors = [], bodies } = operation
    const scope = isOpen ? undefined : scopeOf(operation)
    const places = scope ? ["header", "bearer", "query"].map((name) => ({ [name]: [scope] })) : []
    expect([found?.security, found?.["x-scope"]]).toEqual([places, scope])
    const withKey = isOpen ? [] : [400, 401, 403, 429, 503]
    const ofWrites = operation.method === "get" ? [] : [507]
    const statuses = new Set([
      answer.status,
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

  it.each(operations)("%s says where the allowance of its key is told", (_, operation, found) => {
    const { isOpen = false, answer } = operation
    const allowance = isOpen ? [] : ["RateLimit", "RateLimit-Policy"]
    const ofSuccess = Object.keys(found?.responses[answer.status]?.headers ?? {})
    expect(ofSuccess.filter((name) => name.startsWith("RateLimit"))).toEqual(allowance)
    const ofRefusal = Object.keys(found?.responses["429"]?.headers ?? {})
    expect(ofRefusal).toEqual(isOpen ? [] : [...allowance, "Retry-After"])
  })

  it.each(operations)("%s has examples of what it must be given", (_, operation, found) => {
    const inPath = found?.parameters.filter((parameter) => parameter.in === "path") ?? []
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(inPath.map(({ name }) => name)).toEqual(names)
    for (const { schema } of inPath) expect(schema.example).toEqual(expect.any(String))
    const bodies = Object.entries(operation.bodies ?? {})
    const contents = found?.requestBody?.content ?? {}
    expect(Object.keys(contents)).toEqual(bodies.map(([type]) => type))
    for (const [type, { example }] of bodies) expect(contents[type]?.example).toEqual(example)
  })

  it.each(operations)("%s names its query and its headers", (_, operation, found) => {
    function named(place: string): string[] {
      return (found?.parameters ?? []).filter((each) => each.in === place).map(({ name }) => name)
    }
    expect(named("query")).toEqual(Object.keys(operation.query.shape))
    expect(named("header")).toEqual(operation.headers ?? [])
  })
})
