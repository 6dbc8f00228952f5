import { byteLengthOf } from "../../contract/bundle.ts"

/** What a webhook says: `data` is the record of what it tells of. */
export type WebhookEvent = { type: string; timestamp: string; data: object }

/** The most bytes that a webhook's body has. */
const BODY_BYTES_MAX = 256_000

/** Fields of a record that are never left out. */
const KEPT_FIELDS = new Set(["id", "status", "created_at", "error", "error_code"])
/** `output_files.out_1.files` is as deep as a field is named that is left out. */
const DEPTH_MAX = 3

type Field = { path: string[]; bytes: number }

/**
 * The body of a webhook. Where it would be too large, fields of its record are left out, the largest
 * first, until it fits: they are null, and `data.truncated` has their paths.
 */
export function writeEvent(event: WebhookEvent): string {
  const whole = JSON.stringify(event)
  if (whole.length * 3 <= BODY_BYTES_MAX || byteLengthOf(whole) <= BODY_BYTES_MAX) return whole
  const body = leaveOut(event, DEPTH_MAX) ?? leaveOut(event, 1)
  if (body === null) throw new Error(`a webhook of the type ${event.type} cannot be small enough`)
  return body
}

/** The body without the largest of the fields down to a depth; null where it is still too large. */
function leaveOut(event: WebhookEvent, depth: number): string | null {
  const data = structuredClone(event.data)
  const truncated: string[] = []
  let bytes = byteLengthOf(JSON.stringify(event))
  const fields = fieldsOf(data, [], depth)
  for (const field of fields.toSorted((one, other) => other.bytes - one.bytes)) {
    setNull(data, field.path)
    const name = field.path.join(".")
    truncated.push(name)
    bytes += name.length - field.bytes
    if (bytes > BODY_BYTES_MAX) continue
    const body = JSON.stringify({ ...event, data: { ...data, truncated } })
    if (byteLengthOf(body) <= BODY_BYTES_MAX) return body
  }
  return null
}

/** The fields that can be left out: objects are their fields, down to a depth. */
function fieldsOf(owner: object, path: string[], depth: number): Field[] {
  return Object.entries(owner).flatMap(([name, value]: [string, unknown]): Field[] => {
    if (value === undefined || (path.length === 0 && KEPT_FIELDS.has(name))) return []
    const own = [...path, name]
    const isBranch = value instanceof Object && !Array.isArray(value) && own.length < depth
    if (isBranch) return fieldsOf(value, own, depth)
    return [{ path: own, bytes: byteLengthOf(JSON.stringify(value)) }]
  })
}

function setNull(owner: object, path: readonly string[]): void {
  const [name = "", ...rest] = path
  const value: unknown = Reflect.get(owner, name)
  if (rest.length > 0 && value instanceof Object) setNull(value, rest)
  else Reflect.set(owner, name, null)
}
