import { Validator } from "@seriousme/openapi-schema-validator"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { describeOperations } from "../../src/http/openapi.ts"
import { PROBLEMS } from "../../src/http/problem.ts"
import { OPERATIONS } from "../../src/operations.ts"

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
  responses: z.record(z.string(), z.looseObject({ description: z.string().min(1) })),
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

  it("refers to schemas that it has", () => {
    const text = JSON.stringify(sent)
    const schemas = z
      .looseObject({ components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }) })
      .parse(sent).components.schemas
    const named = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(10)
    for (const name of named) expect(Object.keys(schemas)).toContain(name)
  })
})

describe("an operation of the OpenAPI document", () => {
  it.each(operations)("%s says of keys and errors what holds", (_, operation, found) => {
    const { isOpen = false, isJobForm = false, answer, errors = [] } = operation
    expect(found?.security).toEqual(isOpen ? [] : undefined)
    const withKey = isOpen ? [] : [400, 401, 429]
    const ofWrites = operation.method === "get" ? [] : [507]
    const statuses = new Set([
      answer.status,
      ...errors.map((code) => PROBLEMS[code].status),
      ...withKey,
      ...(isJobForm ? [] : [422]),
      500,
      ...ofWrites,
    ])
    expect(Object.keys(found?.responses ?? {}).toSorted()).toEqual(
      [...statuses].map(String).toSorted(),
    )
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
