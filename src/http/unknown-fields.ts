import { z } from "zod"
import type { Fault } from "../faults.ts"
import { meantField } from "../hints/field-names.ts"
import { FAULTS_MAX } from "./problem.ts"

/** What to say of a field that the object at `path` of a schema does not have. */
export function describeUnknown(
  schema: z.ZodType,
  path: readonly PropertyKey[],
  key: string,
): string {
  const fields = fieldsAt(schema, path)
  const meant = meantField(key, fields)
  if (meant !== null) return `there is no such field; did you mean \`${meant}\`?`
  const names = fields.map((field) => `\`${field}\``).join(", ")
  return `there is no such field${names === "" ? "" : `; there are ${names}`}`
}

/**
 * A value whose unknown fields stand under the names that were meant, where it has no field of these;
 * and the fault of each. What is wrong with the bytes of a file is told by who knows how they come.
 */
export function renameFields(
  schema: z.ZodType,
  value: unknown,
  { issues }: z.core.$ZodError,
): { renamed: Fault[]; meant: unknown } {
  const unknown = issues
    .flatMap((issue) => {
      return issue.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys : []
    })
    .slice(0, FAULTS_MAX)
  if (typeof value !== "object" || value === null) return { renamed: [], meant: value }
  const fields = fieldsAt(schema, [])
  const given = new Map<string, unknown>(Object.entries(value))
  const renamed = unknown.flatMap((key): Fault[] => {
    const meant = key === "file" ? null : meantField(key, fields)
    if (meant === null || given.has(meant)) return []
    given.set(meant, given.get(key))
    given.delete(key)
    return [{ field: key, message: describeUnknown(schema, [], key) }]
  })
  return { renamed, meant: Object.fromEntries(given) }
}

/** The fields of the object that stands at a path of a schema; none where that is no object. */
function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const plain = unwrapped(schema)
  const [first, ...rest] = path
  if (plain instanceof z.ZodObject) {
    if (first === undefined) return Object.keys(plain.shape)
    const field: unknown = plain.shape[String(first)]
    return field instanceof z.ZodType ? fieldsAt(field, rest) : []
  }
  if (plain instanceof z.ZodArray && plain.element instanceof z.ZodType) {
    return fieldsAt(plain.element, rest)
  }
  return []
}

/** A schema without what makes it optional, null, or something else afterwards. */
function unwrapped(schema: z.ZodType): z.ZodType {
  const inner = innerOf(schema)
  return inner instanceof z.ZodType ? unwrapped(inner) : schema
}

function innerOf(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return schema.unwrap()
  if (schema instanceof z.ZodDefault) return schema.unwrap()
  return schema instanceof z.ZodPipe ? schema.in : null
}
