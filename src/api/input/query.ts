import { z } from "zod"
import type { Fault } from "../../domain/faults.ts"
import { findNearestParameter } from "../../hints/field-names.ts"
import { METADATA_NAME_LENGTH_MAX, METADATA_VALUE_LENGTH_MAX } from "../../kinds/create-fields.ts"
import type { AppContext } from "../context.ts"
import { invalidFieldsProblem } from "../output/problem.ts"
import { zodErrorToFaults } from "./request.ts"

/** Query parameters that every route accepts: the API key, and the disposition of download URLs. */
const SHARED_PARAMETERS = new Set(["key", "disposition"])

/** Prefix of the query parameters that filter a list by metadata: `metadata.<name>=<value>`. */
const METADATA_PREFIX = "metadata."
const EXPECTED_PAIR = `expected \`metadata.<name>=<value>\`, whose name has at most ${METADATA_NAME_LENGTH_MAX} characters`
const ONE_PAIR = "expected one parameter `metadata.<name>=<value>` at most"

/**
 * Schema of the list filter by one metadata pair. `readQueryParameters` converts the query
 * parameter `metadata.<name>=<value>` to the object that this schema parses.
 */
export const metadataFilterSchema = z
  .record(
    z.string().max(METADATA_NAME_LENGTH_MAX),
    z
      .string()
      .max(METADATA_VALUE_LENGTH_MAX, `expected at most ${METADATA_VALUE_LENGTH_MAX} characters`),
    EXPECTED_PAIR,
  )
  .refine((pairs) => Object.keys(pairs).length === 1, ONE_PAIR)
  .transform((pairs) => {
    const [pair] = Object.entries(pairs)
    return pair && { name: pair[0], value: pair[1] }
  })
  .optional()
  .meta({
    description:
      "Only rows with this pair of metadata, such as `metadata.order=42`; at most one such parameter.",
    example: { "metadata.order": "42" },
    override: {
      type: "object",
      maxProperties: 1,
      propertyNames: { pattern: `^metadata\\..{0,${METADATA_NAME_LENGTH_MAX}}$` },
      additionalProperties: { type: "string", maxLength: METADATA_VALUE_LENGTH_MAX },
    },
    param: { style: "form", explode: true },
  })

/** Parses the query parameters of a request by a schema; throws 422 with all faults. */
export function readQuery<Query extends z.ZodObject>(
  schema: Query,
  c: AppContext,
): z.output<Query> {
  const { value, unknown, repeated } = readQueryParameters(schema, c)
  const parsed = schema.safeParse(value)
  const faults: Fault[] = [
    ...unknown.map((field) => ({ field, message: describeUnknownParameter(field, schema) })),
    ...repeated.map(({ field, times }) => ({
      field,
      message: `the parameter occurs ${times} times; send it once`,
    })),
    ...(parsed.error ? zodErrorToFaults(parsed.error, schema, { value }) : []),
  ]
  if (!parsed.success || faults.length > 0) throw invalidFieldsProblem(faults)
  return parsed.data
}

type Parameters = {
  /** Values of the parameters that the schema defines, by name. */
  value: Record<string, unknown>
  unknown: string[]
  repeated: { field: string; times: number }[]
}

/** Sorts the query parameters of a request into known, unknown and repeated ones. */
export function readQueryParameters({ shape }: z.ZodObject, c: AppContext): Parameters {
  const value: Record<string, unknown> = {}
  const pairs: [string, string][] = []
  const unknown: string[] = []
  const repeated: Parameters["repeated"] = []
  for (const [field, values] of Object.entries(c.req.queries())) {
    const [first = ""] = values
    const isPair = field.startsWith(METADATA_PREFIX) && Object.hasOwn(shape, "metadata")
    const isKnown = isPair || Object.hasOwn(shape, field)
    if (isPair) pairs.push([field.slice(METADATA_PREFIX.length), first])
    else if (isKnown) value[field] = first
    else if (!SHARED_PARAMETERS.has(field)) unknown.push(field)
    if (isKnown && values.length > 1) repeated.push({ field, times: values.length })
  }
  if (pairs.length > 0) value["metadata"] = Object.fromEntries(pairs)
  return { value, unknown, repeated }
}

function describeUnknownParameter(name: string, { shape }: z.ZodObject): string {
  const names = Object.keys(shape)
  const nearest = findNearestParameter(name, names)
  if (nearest !== null) return `unknown query parameter; did you mean \`${nearest}\`?`
  const list = names
    .map((each) => (each === "metadata" ? "`metadata.<name>`" : `\`${each}\``))
    .join(", ")
  const accepted = names.length === 0 ? "; the path takes none" : `; the path takes ${list}`
  const isOfUrl = names.includes("url") ? ", whose own `&` must be written as `%26`" : ""
  return `unknown query parameter${accepted}${isOfUrl}`
}
