import { z } from "zod"

/** JSON schema with the keywords that the reference pages show. */
export type JsonSchema = {
  $ref?: string | undefined
  type?: string | string[] | undefined
  description?: string | undefined
  format?: string | undefined
  const?: unknown
  enum?: unknown[] | undefined
  default?: unknown
  minimum?: number | undefined
  maximum?: number | undefined
  minItems?: number | undefined
  maxItems?: number | undefined
  maxLength?: number | undefined
  properties?: Record<string, JsonSchema> | undefined
  required?: string[] | undefined
  items?: JsonSchema | undefined
  additionalProperties?: boolean | JsonSchema | undefined
  anyOf?: JsonSchema[] | undefined
  oneOf?: JsonSchema[] | undefined
}

export const jsonSchemaParser: z.ZodType<JsonSchema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    description: z.string().optional(),
    format: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    maxLength: z.number().optional(),
    properties: z.record(z.string(), jsonSchemaParser).optional(),
    required: z.array(z.string()).optional(),
    items: jsonSchemaParser.optional(),
    additionalProperties: z.union([z.boolean(), jsonSchemaParser]).optional(),
    anyOf: z.array(jsonSchemaParser).optional(),
    oneOf: z.array(jsonSchemaParser).optional(),
  }),
)

/** Depth of nested fields that a table shows by default. */
const DEPTH_MAX = 3
const ENUM_MAX = 16

/**
 * Makes the rows of a table of an object's fields: name, type and meaning. The rows of nested
 * fields follow the row of the field that contains them.
 */
export function makeFieldRows(
  object: JsonSchema,
  { prefix = "", depth = 0, depthMax = DEPTH_MAX } = {},
): string[][] {
  const required = new Set(object.required)
  return Object.entries(object.properties ?? {}).flatMap(([name, value]) => {
    const path = `${prefix}${name}`
    const mark = required.has(name) && depth === 0 ? " (required)" : ""
    const own = [`\`${path}\`${mark}`, describeSchemaType(value), describeMeaning(value)]
    return depth < depthMax ? [own, ...makeNestedRows(value, path, depth, depthMax)] : [own]
  })
}

function makeNestedRows(
  value: JsonSchema,
  path: string,
  depth: number,
  depthMax: number,
): string[][] {
  const deeper = { depth: depth + 1, depthMax }
  const choices = [value, ...choicesOf(value)]
  return choices.flatMap((each) => {
    if (each.properties) return makeFieldRows(each, { prefix: `${path}.`, ...deeper })
    if (each.items?.properties)
      return makeFieldRows(each.items, { prefix: `${path}[].`, ...deeper })
    const { additionalProperties: values } = each
    if (typeof values !== "object" || !values.properties) return []
    return makeFieldRows(values, { prefix: `${path}.<key>.`, ...deeper })
  })
}

/** Returns the type of a value as Markdown, with links to the objects of the API. */
export function describeSchemaType(value: JsonSchema): string {
  if (value.$ref !== undefined) return makeObjectLink(value.$ref)
  if (value.const !== undefined) return `\`${JSON.stringify(value.const)}\``
  if (value.enum) return describeEnum(value.enum)
  const choices = choicesOf(value)
  if (choices.length > 0) return [...new Set(choices.map(describeSchemaType))].join(" or ")
  const { type, items, additionalProperties: values } = value
  if (type === "array") return items ? `array of ${describeSchemaType(items)}` : "array"
  if (type === "object" && typeof values === "object" && Object.keys(values).length > 0) {
    return `object of ${describeSchemaType(values)}`
  }
  const name = (Array.isArray(type) ? type : [type ?? "any"]).join(" or ")
  return [value.format === undefined ? name : `${name} (${value.format})`, describeRange(value)]
    .filter((text) => text !== "")
    .join(", ")
}

function describeEnum(values: unknown[]): string {
  const shown = values.slice(0, ENUM_MAX).map((each) => `\`${JSON.stringify(each)}\``)
  return [...shown, ...(values.length > ENUM_MAX ? ["…"] : [])].join(", ")
}

/**
 * Maximum from which a bound is not shown: JSON Schema gives this bound to each integer that has no
 * other limit.
 */
const UNBOUNDED = Number.MAX_SAFE_INTEGER

function describeRange({ minimum, maximum, maxLength, minItems, maxItems }: JsonSchema): string {
  const from = minimum ?? minItems
  const to = maximum ?? maxItems
  if (maxLength !== undefined) return `up to ${maxLength} characters`
  const isOpen = to === undefined || to >= UNBOUNDED
  if (isOpen) return from === undefined || from <= -UNBOUNDED ? "" : `from ${from}`
  return from === undefined || from <= -UNBOUNDED ? `up to ${to}` : `${from} to ${to}`
}

function describeMeaning(value: JsonSchema): string {
  const described = [value, ...choicesOf(value)].find(({ description }) => description)
  const fallback = value.default
  const isShown = fallback !== undefined && JSON.stringify(fallback) !== "{}"
  const own = isShown ? `Default: \`${JSON.stringify(fallback)}\`.` : ""
  return [described?.description ?? "", own].filter((text) => text !== "").join(" ")
}

function choicesOf({ anyOf, oneOf }: JsonSchema): JsonSchema[] {
  return anyOf ?? oneOf ?? []
}

/**
 * Pattern of the names of objects that belong to jobs. A separate page describes these objects,
 * because one page of all objects would be too large.
 */
const OF_JOBS = /^(?:Accepted|Batch|Command|Fetch|Job|Normalization|Transcription)/

/** Returns the path of the page that describes an object of the API. */
export function findObjectPagePath(name: string): "reference/job-objects" | "reference/objects" {
  return OF_JOBS.test(name) ? "reference/job-objects" : "reference/objects"
}

/** Returns a Markdown link to the description of an API object. `ref` is the object's `$ref`. */
export function makeObjectLink(ref: string): string {
  const name = ref.split("/").at(-1) ?? ref
  return `[${name}](/docs/${findObjectPagePath(name)}#${name.toLowerCase()})`
}
