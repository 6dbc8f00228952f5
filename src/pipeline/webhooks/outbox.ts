import type { Env } from "../../env.ts"
import { newId } from "../../ids.ts"
import type { Retention } from "../../retention.ts"
import { recordOf, viewJob } from "../../kinds/registry.ts"
import { logError } from "../../log.ts"
import type { NewDelivery } from "../../storage/deliveries.ts"
import { isFinal } from "../../storage/schema/states.ts"
import type { JobSnapshot, Transition } from "../../storage/transitions.ts"
import { writeEvent } from "./event-body.ts"

/** The longest that every version of the platform lets a message wait: 12 hours. */
const DELAY_SECONDS_MAX = 43_200

// The deliveries table is an outbox: the transition that ends a job writes the webhook that tells
// of it in the same batch, and a message to the queue only says that it is due.

/** The webhook that tells of a job's end, with the bytes that every try sends; none where none is due. */
export function makeEndDelivery(
  before: JobSnapshot,
  transition: Transition,
  retention: Retention,
): NewDelivery | undefined {
  const { now } = retention
  const ended = afterTransition(before, transition)
  const { job } = ended
  if (job.webhookUrl === null || !isFinal(job.state)) return undefined
  const type = `${job.kind}.${job.state}`
  return {
    id: newId(),
    jobId: job.id,
    type,
    url: job.webhookUrl,
    body: writeEnd(type, ended, retention),
    state: "waiting",
    nextTryAt: now,
    createdAt: now,
  }
}

/** A job whose own record cannot be made ends too, and tells of it as every job is listed. */
function writeEnd(type: string, ended: JobSnapshot, retention: Retention): string {
  const timestamp = new Date(retention.now).toISOString()
  const { job } = ended
  try {
    return writeEvent({ type, timestamp, data: recordOf(ended, retention) })
  } catch (error) {
    logError("webhooks.record_failed", { job_id: job.id, error: String(error) })
    return writeEvent({ type, timestamp, data: viewJob(`${job.origin}/v1`, job, null) })
  }
}

/** A message that a delivery is due: at once, or at `dueAt`, before which it may come. */
export type WebhookMessage = { accountId: string; deliveryId: string; dueAt?: number | undefined }

/**
 * Sends the message that a delivery is due; should it be lost, the sweep sends another. Where the delay of
 * a queue is too short for `dueAt`, whoever takes the message sends it again for the rest.
 */
export async function enqueueDelivery(env: Env, message: WebhookMessage): Promise<void> {
  const waitMs = Math.max(0, (message.dueAt ?? 0) - Date.now())
  const delaySeconds = Math.min(DELAY_SECONDS_MAX, Math.ceil(waitMs / 1000))
  try {
    await env.WEBHOOKS.send(message, { delaySeconds })
  } catch (error) {
    logError("webhooks.send_failed", { error: String(error) })
  }
}

/** A snapshot as it is once the transition is written. */
function afterTransition(before: JobSnapshot, transition: Transition): JobSnapshot {
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
