import type { z } from "zod"

/** Returns the reference to a schema with an id in the OpenAPI document. */
export function makeSchemaReference(schema: z.ZodType): { $ref: string } {
  const id = schema.meta()?.id
  if (id === undefined) throw new Error("the schema has no id")
  return { $ref: `#/components/schemas/${id}` }
}
