import { z } from "zod"
import { COMMAND_LENGTH_MAX } from "../../../src/kinds/command/request.ts"
import { EXAMPLE_ID } from "../../../src/platform/ids.ts"
import { selectCases } from "../../support/wide.ts"
import { COMMANDS, TEXTS } from "./grammars.ts"
import type { Grow } from "./grammars.ts"

/** An operation that takes JSON: an example of its body, and the fields that the body may have. */
export type WithBody = { path: string; example: object; fields: string[] }

/** A body that grows at one place; `name` says which. */
export type Growing = { name: string; at: (bytes: number) => object }

/** Commands as long as one may be, of which so many fill the body. */
const LINE_LENGTH = COMMAND_LENGTH_MAX - 200

const schema = z.looseObject({
  $ref: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
})
const json = z.object({ schema, example: z.record(z.string(), z.unknown()) })
const requestBody = z.object({ content: z.object({ "application/json": json }) })
const document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({}))),
  components: z.looseObject({ schemas: z.record(z.string(), schema) }),
})

/**
 * Reads the operations that take JSON from the service's own OpenAPI document; a field that several
 * have stands at the first of them, and in wide tests at each.
 */
export function readOperations(openapi: unknown): WithBody[] {
  const { paths, components } = document.parse(openapi)
  const known = new Set<string>()
  return Object.entries(paths).flatMap(([path, methods]) => {
    const { data } = requestBody.safeParse(methods["post"]?.["requestBody"])
    if (!data) return []
    const { schema: given, example } = data.content["application/json"]
    const name = given.$ref?.split("/").at(-1)
    const { properties } = (name === undefined ? given : components.schemas[name]) ?? given
    const all = Object.keys({ ...example, ...properties })
    const fields = selectCases(
      all.filter((field) => !known.has(field)),
      all.filter((field) => known.has(field)),
    )
    for (const field of all) known.add(field)
    return [{ path, example, fields }]
  })
}

/** JSON bodies of an operation, each of which grows at another place. */
export function growingBodies({ example, fields }: WithBody): Growing[] {
  return [
    { name: "unknown fields", at: (bytes) => ({ ...example, ...map(bytes, 1) }) },
    { name: "a nest", at: (bytes) => ({ ...example, nest: nest(Math.min(bytes / 2, 4000)) }) },
    ...fields.flatMap((field) => growingField(example, field)),
  ]
}

function growingField(example: object, field: string): Growing[] {
  const others = { ...example }
  function growing(what: string, valueAt: (bytes: number) => unknown): Growing {
    return { name: `${field}: ${what}`, at: (bytes) => ({ ...others, [field]: valueAt(bytes) }) }
  }
  return [
    ...sampled(TEXTS).map((text, place) => growing(`text ${place}`, text)),
    growing("a map of numbers", (bytes) => map(bytes, 1)),
    growing("a map of strings", (bytes) => map(bytes, "a.mp4")),
    growing("a map of inputs", (bytes) => map(bytes, "svc_id://x", "in_")),
    growing("a list of numbers", (bytes) => list(bytes, 1)),
    growing("a list of strings", (bytes) => list(bytes, "ffmpeg")),
    growing("a list of objects", (bytes) => list(bytes, { a: 1 })),
    growing("a URL with headers", (bytes) => ({
      url: "https://a.example/",
      headers: map(bytes, "a", "X-"),
    })),
    growing("a nest", (bytes) => nest(Math.min(bytes / 2, 4000))),
  ]
}

/** Bodies of an operation that runs commands, of which each is long in another way. */
export function growingCommands({ example, path }: WithBody): Growing[] {
  const inputs = path === "/ffmpeg" ? { inputs: [INPUT] } : { input_files: { in_1: INPUT } }
  const base = { ...example, ...inputs, ffmpeg_command: undefined }
  return sampled(COMMANDS).map((grow, place) => {
    const name = `command ${place}: ${grow(60).slice(0, 90)}`
    if (path === "/ffmpeg") {
      return { name, at: (bytes) => ({ ...base, command: grow(Math.min(bytes, LINE_LENGTH)) }) }
    }
    return {
      name,
      at: (bytes) => ({
        ...base,
        ffmpeg_commands: Array.from({ length: Math.max(1, Math.floor(bytes / LINE_LENGTH)) }, () =>
          grow(Math.min(bytes, LINE_LENGTH)),
        ),
      }),
    }
  })
}

/** Stands for the id of a file that the account has. */
export const INPUT = `svc_id://${EXAMPLE_ID}`

/** Every fifth way to grow; in wide tests all of them. */
export function sampled(ways: readonly Grow[]): Grow[] {
  return selectCases(
    ways.filter((_, place) => place % 5 === 0),
    ways.filter((_, place) => place % 5 !== 0),
  )
}

function map(bytes: number, value: unknown, prefix = "k"): object {
  const length = Math.floor(bytes / JSON.stringify({ [`${prefix}99999`]: value }).length)
  return Object.fromEntries(Array.from({ length }, (_, place) => [`${prefix}${place}`, value]))
}

function list(bytes: number, value: unknown): unknown[] {
  return Array.from({ length: Math.floor(bytes / (JSON.stringify(value).length + 1)) }, () => value)
}

function nest(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}
