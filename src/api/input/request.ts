import { signText } from "../../platform/crypto/signature.ts"
import { getSettings } from "../../bindings/env.ts"
import type { Fault } from "../../domain/faults.ts"
import { describeBrokenJson } from "../../hints/json.ts"
import type { IdempotencyKeyUse } from "../../domain/job-draft.ts"
import { readBodyAsBlob } from "./body.ts"
import { requireJsonWithinLimits } from "./body-complexity.ts"
import type { AppContext } from "../context.ts"
import { FAULTS_MAX, Problem, invalidFieldsProblem } from "../output/problem.ts"
import { describeUnknownField, correctFieldNames } from "./unknown-fields.ts"
import { describeInvalidValue } from "../../hints/values.ts"
import { z } from "zod"

const WAIT_SECONDS_MAX = 60
const IDEMPOTENCY_KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

/** Returns the base URL of the API with its version: `https://host/v1`. */
export function getBaseUrl(c: AppContext): string {
  return `${getPublicOrigin(c)}/v1`
}

/** Returns the public origin of the service: PUBLIC_ORIGIN, or the origin of the request. */
export function getPublicOrigin(c: Pick<AppContext, "env" | "req">): string {
  return getSettings(c.env).PUBLIC_ORIGIN?.replace(/\/+$/, "") ?? new URL(c.req.url).origin
}

/**
 * Returns the wait that a caller requests by `Prefer: wait=N` (RFC 7240), in milliseconds; null
 * without the preference. Sets the header `Preference-Applied` to the granted wait.
 */
export function readPreferredWaitMs(c: AppContext): number | null {
  const preference =
    /(?:^|,)\s*wait\s*=\s*([^\s,;]*)/i.exec(c.req.header("prefer") ?? "")?.[1] ?? ""
  const digits = /^(?:"(\d{1,9})"|(\d{1,9}))$/.exec(preference)
  if (!digits) return null
  const seconds = Math.min(Number(digits[1] ?? digits[2]), WAIT_SECONDS_MAX)
  c.header("preference-applied", `wait=${seconds}`)
  return seconds * 1000
}

/** Returns a fault if the header `Idempotency-Key` is malformed. */
export function findIdempotencyKeyFaults(c: AppContext): Fault[] {
  const key = c.req.header("idempotency-key")
  if (key === undefined || IDEMPOTENCY_KEY_PATTERN.test(key)) return []
  return [
    {
      field: "Idempotency-Key",
      message: "expected 1 to 255 visible ASCII characters without spaces",
    },
  ]
}

/**
 * Returns the header `Idempotency-Key` of a request; null without the header. Throws 422 for a
 * malformed key.
 */
export function readIdempotencyKey(c: AppContext): string | null {
  const faults = findIdempotencyKeyFaults(c)
  if (faults.length > 0) throw invalidFieldsProblem(faults)
  return c.req.header("idempotency-key") ?? null
}

/**
 * Returns the `Idempotency-Key` with a hash of the parsed request, which does not depend on JSON
 * formatting. The hash is an HMAC, because a plain hash would let a reader of the database guess
 * short secrets in the request.
 */
export async function readIdempotencyKeyAndHash(
  c: AppContext,
  request: unknown,
): Promise<IdempotencyKeyUse | null> {
  const key = readIdempotencyKey(c)
  if (key === null) return null
  const text = JSON.stringify([c.req.method, c.req.path, request])
  return { key, bodyHash: await signText(getSettings(c.env).LATHE_SECRET, "idempotency", text) }
}

const JSON_BYTES_MAX = 1024 * 1024

/** Schema of any JSON object. */
export const anyObjectSchema = z.record(z.string(), z.unknown(), "expected an object of fields")

export function isJsonRequest(c: AppContext): boolean {
  const type = c.req.header("content-type") ?? ""
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)
}

/**
 * Reads the JSON body of a request, and parses the body by a schema. Throws 413 for a large body,
 * 415 for another media type, 422 for invalid fields.
 */
export async function readJsonBody<Schema extends z.ZodType>(
  c: AppContext,
  schema: Schema,
): Promise<z.output<Schema>> {
  requireJson(c)
  return parseBody(schema, parseJson(await readText(c)))
}

function requireJson(c: AppContext): void {
  if (!isJsonRequest(c)) throw notJsonProblem(c)
  requireUncompressed(c)
}

/** Returns the 415 error for a request body whose media type is not JSON. */
function notJsonProblem(c: AppContext): Problem {
  const type = c.req.header("content-type")
  const label = type === undefined ? "without a Content-Type" : `as \`${type.slice(0, 100)}\``
  const remedy = /^multipart\//i.test(type ?? "")
    ? "Upload the file with POST /v1/files first, and name it here as `svc_id://<id>`"
    : 'With curl, add `-H "Content-Type: application/json"`'
  const message = `The body came ${label}; expected application/json. ${remedy}.`
  return new Problem("unsupported_media_type", message)
}

/** Throws 415 for a compressed request body, because the service does not decompress bodies. */
export function requireUncompressed(c: AppContext): void {
  const encoding = c.req.header("content-encoding")?.trim() ?? ""
  if (/^(?:identity)?$/i.test(encoding)) return
  const message = `The body came with \`Content-Encoding: ${encoding.slice(0, 100)}\`; send it uncompressed.`
  throw new Problem("unsupported_media_type", message)
}

/**
 * Reads an optional JSON body, and parses the body by a schema. A missing body counts as an empty
 * object.
 */
export async function readOptionalJsonBody<Schema extends z.ZodType>(
  c: AppContext,
  schema: Schema,
): Promise<z.output<Schema>> {
  const text = await readText(c)
  if (text.trim() === "") return parseBody(schema, {})
  requireJson(c)
  return parseBody(schema, parseJson(text))
}

const emptyBody = z.strictObject({}, "expected no body, or an empty object")

/** Throws 422 if a request to an operation without a body has a body other than an empty object. */
export async function requireNoBody(c: AppContext): Promise<void> {
  const text = await readText(c)
  if (text.trim() === "") return
  parseBody(emptyBody, parseJson(text))
}

/** Parses a JSON value by a schema; throws 422 with each invalid field. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const checked = safeParseBody(schema, value)
  if ("faults" in checked) throw invalidFieldsProblem(checked.faults)
  return checked.data
}

/**
 * Parses a JSON value by a schema. Returns the parsed data, or else all faults and `corrected`: the
 * value with misspelled field names replaced by the correct names.
 */
export function safeParseBody<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { data: z.output<Schema> } | { faults: Fault[]; corrected: unknown } {
  const parsed = schema.safeParse(value)
  if (parsed.success) return { data: parsed.data }
  const { renamed, corrected } = correctFieldNames(schema, value, parsed.error)
  if (renamed.length === 0)
    return { faults: zodErrorToFaults(parsed.error, schema, { value }), corrected }
  // Validate the value again with the corrected names, to find the faults of all other fields and
  // values.
  const reparsed = schema.safeParse(corrected)
  const others = reparsed.error
    ? zodErrorToFaults(reparsed.error, schema, { value: corrected })
    : []
  return { faults: [...renamed, ...others], corrected }
}

/**
 * Converts zod issues to faults by field. With `source`, the validated value, the messages also
 * describe the wrong value.
 */
export function zodErrorToFaults(
  error: z.core.$ZodError,
  schema: z.ZodType = z.unknown(),
  source: { value: unknown } | null = null,
): Fault[] {
  const mistyped = new Set<string>()
  const faults: Fault[] = []
  for (const issue of error.issues) {
    if (faults.length >= FAULTS_MAX) break
    const field = issue.path.join(".")
    // Skip other faults of a field whose value has the wrong type.
    if (mistyped.has(field)) continue
    if (issue.code === "invalid_type") mistyped.add(field)
    for (const fault of issueToFaults(issue, schema, source)) faults.push(fault)
  }
  return faults
}

function issueToFaults(
  issue: z.core.$ZodIssue,
  schema: z.ZodType,
  source: { value: unknown } | null,
): Fault[] {
  const field = issue.path.join(".")
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, FAULTS_MAX).map((key) => ({
      field: field ? `${field}.${key}` : key,
      message: describeUnknownField(schema, issue.path, key),
    }))
  }
  const message = source
    ? describeInvalidValue(issue, readAtPath(source.value, issue.path))
    : issue.message
  return [{ field: field || "body", message }]
}

/** Returns the value at a path of an object; undefined if the path does not exist. */
function readAtPath(value: unknown, [first, ...rest]: readonly PropertyKey[]): unknown {
  if (first === undefined) return value
  if (typeof value !== "object" || value === null) return undefined
  return readAtPath(Object.getOwnPropertyDescriptor(value, first)?.value, rest)
}

function parseJson(text: string): unknown {
  requireJsonWithinLimits(text)
  try {
    return JSON.parse(text)
  } catch {
    throw invalidFieldsProblem([{ field: "body", message: describeBrokenJson(text) }])
  }
}

async function readText(c: AppContext): Promise<string> {
  const body = await readBodyAsBlob(c, { bytesMax: JSON_BYTES_MAX, tooLarge: bodyTooLargeProblem })
  const text = await body.text()
  // Drop the byte order mark that some editors write.
  return text.startsWith("\uFEFF") ? text.slice(1) : text
}

function bodyTooLargeProblem(): Problem {
  return new Problem("payload_too_large", `A JSON body may have ${JSON_BYTES_MAX} bytes.`)
}
