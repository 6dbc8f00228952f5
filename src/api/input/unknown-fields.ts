import { z } from "zod"
import type { Fault } from "../../domain/faults.ts"
import { findNearestField } from "../../hints/field-names.ts"
import { FAULTS_MAX } from "../output/problem.ts"

/** Returns the error message for an unknown field of the object at `path` of a schema. */
export function describeUnknownField(
  schema: z.ZodType,
  path: readonly PropertyKey[],
  key: string,
): string {
  const fields = listFieldsAt(schema, path)
  const nearest = findNearestField(key, fields)
  if (nearest !== null) return `unknown field; did you mean \`${nearest}\`?`
  const names = fields.map((field) => `\`${field}\``).join(", ")
  return `unknown field${names === "" ? "" : `; the known fields are ${names}`}`
}

/**
 * Renames unknown fields of an object to the nearest known field, if the object lacks that field.
 * Returns a fault for each renamed field. Skips the field `file`, for which callers have their own
 * message.
 */
export function correctFieldNames(
  schema: z.ZodType,
  value: unknown,
  { issues }: z.core.$ZodError,
): { renamed: Fault[]; corrected: unknown } {
  const unknown = issues
    .flatMap((issue) => {
      return issue.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys : []
    })
    .slice(0, FAULTS_MAX)
  if (typeof value !== "object" || value === null) return { renamed: [], corrected: value }
  const fields = listFieldsAt(schema, [])
  const values = new Map<string, unknown>(Object.entries(value))
  const renamed = unknown.flatMap((key): Fault[] => {
    const nearest = key === "file" ? null : findNearestField(key, fields)
    if (nearest === null || values.has(nearest)) return []
    values.set(nearest, values.get(key))
    values.delete(key)
    return [{ field: key, message: describeUnknownField(schema, [], key) }]
  })
  return { renamed, corrected: Object.fromEntries(values) }
}

/** Returns the field names of the object at a path of a schema; empty if the path has no object. */
function listFieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const plain = unwrapSchema(schema)
  const [first, ...rest] = path
  if (plain instanceof z.ZodObject) {
    if (first === undefined) return Object.keys(plain.shape)
    const field: unknown = plain.shape[String(first)]
    return field instanceof z.ZodType ? listFieldsAt(field, rest) : []
  }
  if (plain instanceof z.ZodArray && plain.element instanceof z.ZodType) {
    return listFieldsAt(plain.element, rest)
  }
  return []
}

/** Removes the optional, nullable, default and pipe wrappers from a schema. */
function unwrapSchema(schema: z.ZodType): z.ZodType {
  const inner = readInnerSchema(schema)
  return inner instanceof z.ZodType ? unwrapSchema(inner) : schema
}

function readInnerSchema(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return schema.unwrap()
  if (schema instanceof z.ZodDefault) return schema.unwrap()
  return schema instanceof z.ZodPipe ? schema.in : null
}
