import type { Env } from "../bindings/env.ts"
import { newId } from "../platform/ids.ts"
import type { RetentionSettings } from "../domain/retention.ts"
import {
  buildWebhookRecord,
  INTERNAL_KIND_NAMES,
  buildJobRecordOfAnyKind,
} from "../kinds/registry.ts"
import { logError } from "../platform/log.ts"
import type { NewDelivery } from "../db/deliveries.ts"
import { isFinalState } from "../domain/states.ts"
import type { WebhookForm } from "../domain/states.ts"
import type { JobTransition } from "../db/jobs/apply-transition.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"
import { countUtf8Bytes } from "../contract/bundle.ts"
import { makeEventType, matchesEventType } from "./event-types.ts"

/** Body of a webhook about the end of a job. `data` is the record of the job. */
type WebhookEvent = { type: string; timestamp: string; data: object }

/** Largest body of a webhook, in bytes. */
const BODY_BYTES_MAX = 256_000

/** Names of record fields that are never omitted, even from a body that is too large. */
const KEPT_FIELDS = new Set(["id", "status", "created_at", "error", "error_code"])
/**
 * Maximum depth in a record at which a field can be omitted alone. For example,
 * `output_files.out_1.files` has the depth 3.
 */
const DEPTH_MAX = 3

type Field = { path: string[]; bytes: number }

/**
 * Returns the body of a webhook as JSON. If the body is too large, fields of its record become
 * null, the largest first, until the body fits. `data.truncated` lists the paths of these fields.
 */
export function serializeWebhookEvent(event: WebhookEvent): string {
  const whole = JSON.stringify(event)
  if (whole.length * 3 <= BODY_BYTES_MAX || countUtf8Bytes(whole) <= BODY_BYTES_MAX) return whole
  const body = omitLargestFields(event, DEPTH_MAX) ?? omitLargestFields(event, 1)
  if (body === null)
    throw new Error(
      `a webhook of the type ${event.type} exceeds the size limit even without its large fields`,
    )
  return body
}

/**
 * Returns the body of a webhook whose largest fields are null, as many as necessary. Fields deeper
 * than `depth` are omitted only with the object that contains them. Returns null if the body is
 * still too large.
 */
function omitLargestFields(event: WebhookEvent, depth: number): string | null {
  const data = structuredClone(event.data)
  const truncated: string[] = []
  let bytes = countUtf8Bytes(JSON.stringify(event))
  const fields = fieldsOf(data, [], depth)
  for (const field of fields.toSorted((one, other) => other.bytes - one.bytes)) {
    setNull(data, field.path)
    const name = field.path.join(".")
    truncated.push(name)
    bytes += name.length - field.bytes
    if (bytes > BODY_BYTES_MAX) continue
    const body = JSON.stringify({ ...event, data: { ...data, truncated } })
    if (countUtf8Bytes(body) <= BODY_BYTES_MAX) return body
  }
  return null
}

/**
 * Returns the fields of a record that can be omitted. An object above the maximum depth is replaced
 * by its own fields, so that these can be omitted one by one.
 */
function fieldsOf(owner: object, path: string[], depth: number): Field[] {
  return Object.entries(owner).flatMap(([name, value]: [string, unknown]): Field[] => {
    if (value === undefined || (path.length === 0 && KEPT_FIELDS.has(name))) return []
    const own = [...path, name]
    const isBranch = value instanceof Object && !Array.isArray(value) && own.length < depth
    if (isBranch) return fieldsOf(value, own, depth)
    return [{ path: own, bytes: countUtf8Bytes(JSON.stringify(value)) }]
  })
}

function setNull(owner: object, path: readonly string[]): void {
  const [name = "", ...rest] = path
  const value: unknown = Reflect.get(owner, name)
  if (rest.length > 0 && value instanceof Object) setNull(value, rest)
  else Reflect.set(owner, name, null)
}

/** Longest delay of a queue message that every version of the platform accepts, in seconds. */
const DELAY_SECONDS_MAX = 43_200

// The deliveries table is an outbox. The batch that ends a job also writes the job's webhooks. The
// queue message only reports that a webhook is due.

/**
 * Returns the deliveries that report the end of a job: one to the webhook URL of the request, and
 * one to each endpoint that subscribes to the event. Each delivery has its final body.
 */
export function makeJobEndDeliveries(
  before: JobSnapshot,
  transition: JobTransition,
  retention: RetentionSettings,
): NewDelivery[] {
  const snapshot = afterTransition(before, transition)
  const { job, endpoints } = snapshot
  if (!isFinalState(job.state)) return []
  const type = makeEventType(job.kind, job.state)
  const own = job.webhookUrl === null ? [] : [{ url: job.webhookUrl, form: job.webhookForm }]
  const isListed = !INTERNAL_KIND_NAMES.includes(job.kind)
  const matching = endpoints.filter(({ events }) => {
    return isListed && events.some((event) => matchesEventType(event, type))
  })
  const receivers: { url: string; form: WebhookForm; endpointId?: string }[] = [
    ...own,
    ...matching.map(({ id, url }) => ({ url, form: "native" as const, endpointId: id })),
  ]
  const bodies = new Map<WebhookForm, string>()
  return receivers.map(({ url, form, endpointId = "" }) => {
    const body = bodies.get(form) ?? serializeJobEnd(type, snapshot, { form, retention })
    bodies.set(form, body)
    return draftDelivery({ jobId: job.id, endpointId, type, url, body }, retention.now)
  })
}

/** Returns the row of a webhook delivery that is due at once. */
export function draftDelivery(
  fields: Pick<NewDelivery, "jobId" | "endpointId" | "type" | "url" | "body">,
  now: number,
): NewDelivery {
  return { id: newId(), ...fields, state: "waiting", nextTryAt: now, createdAt: now }
}

/**
 * Returns the body of the webhook about a job's end as JSON. If the job's own record cannot be
 * built, the body contains the shorter record of job lists.
 */
function serializeJobEnd(
  type: string,
  snapshot: JobSnapshot,
  { form, retention }: { form: WebhookForm; retention: RetentionSettings },
): string {
  const timestamp = new Date(retention.now).toISOString()
  const { job } = snapshot
  try {
    return serializeWebhookEvent({
      type,
      timestamp,
      data: buildWebhookRecord(snapshot, form, retention),
    })
  } catch (error) {
    logError("webhooks.record_failed", { job_id: job.id, error: String(error) })
    return serializeWebhookEvent({
      type,
      timestamp,
      data: buildJobRecordOfAnyKind(`${job.origin}/v1`, job, null),
    })
  }
}

/**
 * Queue message that a delivery is due at once, or at `dueAt`. Messages may arrive before `dueAt`.
 */
export type DeliveryMessage = { accountId: string; deliveryId: string; dueAt?: number | undefined }

/**
 * Sends the queue message of a due delivery. If the message is lost, the sweep sends another one.
 * If `dueAt` exceeds the maximum delay of a queue message, the consumer sends the message again for
 * the rest.
 */
export async function enqueueDelivery(env: Env, message: DeliveryMessage): Promise<void> {
  const waitMs = Math.max(0, (message.dueAt ?? 0) - Date.now())
  const delaySeconds = Math.min(DELAY_SECONDS_MAX, Math.ceil(waitMs / 1000))
  try {
    await env.WEBHOOKS.send(message, { delaySeconds })
  } catch (error) {
    logError("webhooks.send_failed", { error: String(error) })
  }
}

/** Returns the snapshot that a job has after a transition is applied. */
function afterTransition(before: JobSnapshot, transition: JobTransition): JobSnapshot {
  const { job, tasks, files } = before
  const changedTasks = new Map(transition.tasks.map(({ id, set }) => [id, set]))
  const changedFiles = new Map(transition.files.map(({ id, set }) => [id, set]))
  return {
    ...before,
    job: { ...job, ...transition.job },
    tasks: tasks.map((task) => ({ ...task, ...changedTasks.get(task.id) })),
    files: files.map((file) => ({ ...file, ...changedFiles.get(file.id) })),
  }
}
