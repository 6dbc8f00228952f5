import { z } from "zod"
import { requireSimple } from "./body-complexity.ts"
import { filePart } from "../kinds/create-fields.ts"

/**
 * Makes what reads the texts of a form as the values that a schema of a JSON body takes: numbers as
 * their text, objects as JSON. A text that is none stays one, and the schema says what it expected.
 */
export function fieldReader(
  schema: z.ZodType,
): (texts: Record<string, string>) => Record<string, unknown> {
  const jsonFields = jsonFieldsOf(schema)
  return (texts) =>
    Object.fromEntries(
      Object.entries(texts).map(([name, text]) => {
        return [name, jsonFields.has(name) ? readValue(name, text) : text]
      }),
    )
}

/**
 * The schema of a form whose fields are those of a JSON body and the part `file`, which may stand in
 * the place of the field `uploadField`; for the documentation.
 */
export function formSchema(request: z.ZodType, uploadField: string): z.ZodObject {
  if (!(request instanceof z.ZodObject)) throw new Error("the schema of a form needs one of fields")
  const objects = fieldsOfTypes(request, ["object", "array"])
  const fields = Object.entries(request.shape).map(([name, schema]) => {
    if (objects.has(name)) {
      return [name, z.string().optional().meta({ description: "As JSON." })] as const
    }
    const given = withoutNull(z.instanceof(z.ZodType).parse(schema))
    return [name, name === uploadField ? given.optional() : given] as const
  })
  return z.strictObject({ file: filePart(uploadField), ...Object.fromEntries(fields) })
}

/** A form has no way to say null. */
function withoutNull(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) {
    return withoutNull(z.instanceof(z.ZodType).parse(schema.unwrap())).optional()
  }
  if (schema instanceof z.ZodNullable) return z.instanceof(z.ZodType).parse(schema.unwrap())
  return schema
}

/** Fields of a schema that take no text. */
function jsonFieldsOf(schema: z.ZodType): Set<string> {
  const texts = fieldsOfTypes(schema, ["string"])
  const values = fieldsOfTypes(schema, ["number", "integer", "boolean", "object", "array"])
  return values.difference(texts)
}

/** Fields of a schema that take one of some types of JSON. */
function fieldsOfTypes(schema: z.ZodType, types: readonly string[]): Set<string> {
  const described = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })
  const { properties = {} } = resolve(described, described.$defs)
  const those = Object.entries(properties).filter(([, property]) =>
    typesOf(property, described.$defs).some((type) => types.includes(type)),
  )
  return new Set(those.map(([name]) => name))
}

type Described = z.core.JSONSchema.JSONSchema
type Definitions = Described["$defs"]

function typesOf(property: Described | boolean, definitions: Definitions): string[] {
  if (typeof property === "boolean") return []
  const { type = [], anyOf = [] } = resolve(property, definitions)
  return [...[type].flat(), ...anyOf.flatMap((each) => typesOf(each, definitions))]
}

/** What a schema that has a name of its own is there. */
function resolve(described: Described, definitions: Definitions): Described {
  const name = /^#\/\$defs\/(.+)$/.exec(described.$ref ?? "")?.[1]
  return name === undefined ? described : (definitions?.[name] ?? {})
}

function readValue(field: string, text: string): unknown {
  requireSimple(text, field)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
