import type { Context } from "hono"
import { sha256Hex } from "../crypto/sha256.ts"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import type { Fault } from "../faults.ts"
import { describeBrokenJson } from "../hints/json.ts"
import type { Limits } from "../plans.ts"
import type { Allowance, HeldKey, Holder } from "../rpc.ts"
import type { AccountDatabases } from "../storage/database.ts"
import type { Idempotency } from "../storage/idempotency.ts"
import { readWhole } from "./body.ts"
import { requireSimple } from "./body-complexity.ts"
import { FAULTS_MAX, Problem, unprocessables } from "./problem.ts"
import { describeUnknown, renameFields } from "./unknown-fields.ts"
import { describeWrong } from "../hints/values.ts"
import { z } from "zod"

/** What the shared steps of a request leave for its handler. */
export type App = {
  Bindings: Env
  Variables: {
    requestId: string
    /** The code of the problem that is the answer. */
    problemCode: string | undefined
    account: Holder
    /** The key of the request; null where a user of the dashboard makes it. */
    key: HeldKey | null
    /** What the caller may still ask, of which every answer tells; none before it is known. */
    allowance: Allowance | undefined
    /** Names the object that counts the caller's requests. */
    limiterName: string
    limits: Limits
    /** The database of the account. */
    database: AccountDatabases
    /** Whether the body of a create is in the Job form; there is none before it is read. */
    isInJobForm: boolean | undefined
  }
}

export type AppContext = Context<App>

const WAIT_SECONDS_MAX = 60
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

/** Address of the interface as callers know it, with the version: `https://host/v1`. */
export function baseUrl(c: AppContext): string {
  return `${publicOrigin(c)}/v1`
}

/** Origin under which callers reach this deployment. */
export function publicOrigin(c: Pick<AppContext, "env" | "req">): string {
  return settingsOf(c.env).PUBLIC_ORIGIN?.replace(/\/+$/, "") ?? new URL(c.req.url).origin
}

/**
 * How long the caller would wait for a job's end, in milliseconds; null where it does not say so
 * (RFC 7240). The answer says what is honoured.
 */
export function preferredWaitMs(c: AppContext): number | null {
  const asked = /(?:^|,)\s*wait\s*=\s*([^\s,;]*)/i.exec(c.req.header("prefer") ?? "")?.[1] ?? ""
  const digits = /^(?:"(\d{1,9})"|(\d{1,9}))$/.exec(asked)
  if (!digits) return null
  const seconds = Math.min(Number(digits[1] ?? digits[2]), WAIT_SECONDS_MAX)
  c.header("preference-applied", `wait=${seconds}`)
  return seconds * 1000
}

/** What is wrong with the key of a create. */
export function idempotencyKeyFaults(c: AppContext): Fault[] {
  const key = c.req.header("idempotency-key")
  if (key === undefined || KEY_PATTERN.test(key)) return []
  return [
    {
      field: "Idempotency-Key",
      message: "expected 1 to 255 visible ASCII characters, none of them a blank",
    },
  ]
}

/** The key of a create that may be sent again; null where the caller gave none. */
export function readIdempotencyKey(c: AppContext): string | null {
  const faults = idempotencyKeyFaults(c)
  if (faults.length > 0) throw unprocessables(faults)
  return c.req.header("idempotency-key") ?? null
}

/** Ties a caller's key to what this request asks for, whatever the spelling of its body. */
export async function readIdempotency(
  c: AppContext,
  request: unknown,
): Promise<Idempotency | null> {
  const key = readIdempotencyKey(c)
  if (key === null) return null
  const text = JSON.stringify([c.req.method, c.req.path, request])
  return { key, bodyHash: await sha256Hex(text) }
}

const JSON_BYTES_MAX = 1024 * 1024

/** The least that a JSON body must be. */
export const anyObject = z.record(z.string(), z.unknown(), "expected an object of fields")

/** Whether a request says that its body is JSON. */
export function isJson(c: AppContext): boolean {
  const type = c.req.header("content-type") ?? ""
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)
}

/** The JSON body of a request, checked; 413, 415 or 422 where it cannot be used. */
export async function readJson<Schema extends z.ZodType>(
  c: AppContext,
  schema: Schema,
): Promise<z.output<Schema>> {
  if (!isJson(c)) throw notJson(c)
  requirePlain(c)
  return parseBody(schema, parseJson(await readText(c)))
}

/** A body of another media type than the one that an operation takes. */
function notJson(c: AppContext): Problem {
  const type = c.req.header("content-type")
  const came = type === undefined ? "without a Content-Type" : `as \`${type.slice(0, 100)}\``
  const remedy = /^multipart\//i.test(type ?? "")
    ? "a file goes to POST /v1/files first, and is named by `svc_id://<id>` here"
    : 'with curl add `-H "Content-Type: application/json"`'
  const message = `Send the body as application/json: it came ${came}; ${remedy}.`
  return new Problem("unsupported_media_type", message)
}

/** Refuses a body that is compressed, which nothing here undoes. */
export function requirePlain(c: AppContext): void {
  const encoding = c.req.header("content-encoding")?.trim() ?? ""
  if (/^(?:identity)?$/i.test(encoding)) return
  const message = `Send the body as it is: it came with \`Content-Encoding: ${encoding.slice(0, 100)}\`.`
  throw new Problem("unsupported_media_type", message)
}

/** The same of a body that may be left out, which is then an empty object. */
export async function readOptionalJson<Schema extends z.ZodType>(
  c: AppContext,
  schema: Schema,
): Promise<z.output<Schema>> {
  // Proxies announce a body of unknown length, "chunked", also where their caller sent none.
  const isLeftOut = c.req.header("content-type") === undefined && (await readText(c)) === ""
  return isLeftOut ? parseBody(schema, {}) : await readJson(c, schema)
}

const NOTHING = z.strictObject({}, "expected no body, or an empty object")

/** Refuses a body with anything in it, which an operation without one would leave unread. */
export async function requireNoBody(c: AppContext): Promise<void> {
  const text = await readText(c)
  if (text.trim() === "") return
  parseBody(NOTHING, parseJson(text))
}

/** A value checked by a schema; 422 with each field at fault. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const checked = checkBody(schema, value)
  if ("faults" in checked) throw unprocessables(checked.faults)
  return checked.data
}

/**
 * A value checked by a schema; or each field at fault, and the value with the fields that have another
 * name here under the names that were meant.
 */
export function checkBody<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { data: z.output<Schema> } | { faults: Fault[]; meant: unknown } {
  const parsed = schema.safeParse(value)
  if (parsed.success) return { data: parsed.data }
  const { renamed, meant } = renameFields(schema, value, parsed.error)
  if (renamed.length === 0) return { faults: faultsOf(parsed.error, schema, { value }), meant }
  // What is told of the rest is told of what was meant.
  const again = schema.safeParse(meant)
  const others = again.error ? faultsOf(again.error, schema, { value: meant }) : []
  return { faults: [...renamed, ...others], meant }
}

/**
 * Each field at fault, and what was expected of it by the schema that it does not fit; more of it where
 * the value that was given is.
 */
export function faultsOf(
  error: z.core.$ZodError,
  schema: z.ZodType = z.unknown(),
  given: { value: unknown } | null = null,
): Fault[] {
  const mistyped = new Set<string>()
  const faults: Fault[] = []
  for (const issue of error.issues) {
    if (faults.length >= FAULTS_MAX) break
    const place = issue.path.join(".")
    // Bounds say nothing of what is of another type.
    if (mistyped.has(place)) continue
    if (issue.code === "invalid_type") mistyped.add(place)
    for (const fault of faultsOfIssue(issue, schema, given)) faults.push(fault)
  }
  return faults
}

function faultsOfIssue(
  issue: z.core.$ZodIssue,
  schema: z.ZodType,
  given: { value: unknown } | null,
): Fault[] {
  const place = issue.path.join(".")
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, FAULTS_MAX).map((key) => ({
      field: place ? `${place}.${key}` : key,
      message: describeUnknown(schema, issue.path, key),
    }))
  }
  const message = given ? describeWrong(issue, valueAt(given.value, issue.path)) : issue.message
  return [{ field: place || "body", message }]
}

/** What stands at a path of a value; nothing where there is none. */
function valueAt(value: unknown, [first, ...rest]: readonly PropertyKey[]): unknown {
  if (first === undefined) return value
  if (typeof value !== "object" || value === null) return undefined
  return valueAt(Object.getOwnPropertyDescriptor(value, first)?.value, rest)
}

function parseJson(text: string): unknown {
  requireSimple(text)
  try {
    return JSON.parse(text)
  } catch {
    throw unprocessables([{ field: "body", message: describeBrokenJson(text) }])
  }
}

async function readText(c: AppContext): Promise<string> {
  const body = await readWhole(c, { bytesMax: JSON_BYTES_MAX, tooLarge })
  const text = await body.text()
  // Some editors begin a file with a byte order mark.
  return text.startsWith("\uFEFF") ? text.slice(1) : text
}

function tooLarge(): Problem {
  return new Problem("payload_too_large", `A JSON body may have ${JSON_BYTES_MAX} bytes.`)
}
