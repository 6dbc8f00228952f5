import { z } from "zod"
import { requireJsonWithinLimits } from "./body-complexity.ts"
import { makeFilePartSchema } from "../../kinds/create-fields.ts"

/**
 * Returns a function that converts the text fields of a form to the types of a JSON schema:
 * objects, arrays, numbers and booleans are parsed as JSON. Invalid JSON stays text, which the
 * schema later reports as a fault.
 */
export function makeFormParser(
  schema: z.ZodType,
): (texts: Record<string, string>) => Record<string, unknown> {
  const jsonFields = findJsonFields(schema)
  return (texts) =>
    Object.fromEntries(
      Object.entries(texts).map(([name, text]) => {
        return [name, jsonFields.has(name) ? parseFieldValue(name, text) : text]
      }),
    )
}

/**
 * Returns the OpenAPI schema of a multipart form: the fields of the JSON body, and the part `file`
 * as an alternative to `uploadField`.
 */
export function makeFormSchema(request: z.ZodType, uploadField: string): z.ZodObject {
  if (!(request instanceof z.ZodObject)) throw new Error("the schema of a form must be an object")
  const objects = findFieldsOfTypes(request, ["object", "array"])
  const fields = Object.entries(request.shape).map(([name, schema]) => {
    if (objects.has(name)) {
      return [name, z.string().optional().meta({ description: "As JSON." })] as const
    }
    const plain = withoutNull(z.instanceof(z.ZodType).parse(schema))
    return [name, name === uploadField ? plain.optional() : plain] as const
  })
  return z.strictObject({ file: makeFilePartSchema(uploadField), ...Object.fromEntries(fields) })
}

/**
 * Removes null and objects from a schema that also accepts text, because the values of a form are
 * texts.
 */
function withoutNull(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodUnion) {
    const text = schema.options.find((option) => option instanceof z.ZodString)
    return text ? text.meta(schema.meta() ?? {}) : schema
  }
  if (schema instanceof z.ZodOptional) {
    return withoutNull(z.instanceof(z.ZodType).parse(schema.unwrap())).optional()
  }
  if (schema instanceof z.ZodNullable) return z.instanceof(z.ZodType).parse(schema.unwrap())
  return schema
}

/** Returns the names of the schema's fields that do not accept a string. */
function findJsonFields(schema: z.ZodType): Set<string> {
  const texts = findFieldsOfTypes(schema, ["string"])
  const values = findFieldsOfTypes(schema, ["number", "integer", "boolean", "object", "array"])
  return values.difference(texts)
}

/** Returns the names of the schema's fields that accept at least one of the given JSON types. */
function findFieldsOfTypes(schema: z.ZodType, types: readonly string[]): Set<string> {
  const root = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })
  const { properties = {} } = resolve(root, root.$defs)
  const matching = Object.entries(properties).filter(([, property]) =>
    listTypes(property, root.$defs).some((type) => types.includes(type)),
  )
  return new Set(matching.map(([name]) => name))
}

type JsonSchema = z.core.JSONSchema.JSONSchema
type Definitions = JsonSchema["$defs"]

function listTypes(property: JsonSchema | boolean, definitions: Definitions): string[] {
  if (typeof property === "boolean") return []
  const { type = [], anyOf = [] } = resolve(property, definitions)
  return [...[type].flat(), ...anyOf.flatMap((each) => listTypes(each, definitions))]
}

/**
 * Returns the definition that a JSON schema with `$ref` refers to; returns other schemas unchanged.
 */
function resolve(reference: JsonSchema, definitions: Definitions): JsonSchema {
  const name = /^#\/\$defs\/(.+)$/.exec(reference.$ref ?? "")?.[1]
  return name === undefined ? reference : (definitions?.[name] ?? {})
}

function parseFieldValue(field: string, text: string): unknown {
  requireJsonWithinLimits(text, field)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
