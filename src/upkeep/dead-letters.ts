import { z } from "zod"
import { redactLogField } from "../contract/redact.ts"
import type { Env } from "../bindings/env.ts"
import { openAccountDatabases, openDirectory } from "../db/database.ts"
import { findDeadLetter, insertDeadLetters } from "../db/dead-letters.ts"
import { findDelivery } from "../db/deliveries.ts"
import { findJob } from "../db/jobs/jobs.ts"
import type { DeadLetter } from "../db/schema/operations.ts"

/**
 * Maximum number of characters of a message body that are kept, so that the body fits a row. A
 * character takes at most three bytes.
 */
const BODY_CHARACTERS_MAX = 10_000
const JOBS_MAX = 20

/** Fields of a queue message that a dead letter keeps. */
type QueueMessage = { id: string; body: unknown }

/**
 * Stores messages that the consumer of a queue could not process, so that the operator can read
 * them.
 */
export async function storeDeadLetters(
  env: Env,
  queue: string,
  messages: readonly QueueMessage[],
): Promise<void> {
  const receivedAt = Date.now()
  const letters = messages.map(({ id, body }) => ({ id, queue, body: keptBody(body), receivedAt }))
  await insertDeadLetters(openDirectory(env), letters)
}

/** Returns a message body without secrets. Returns only the beginning of a long body. */
function keptBody(body: unknown): unknown {
  const text = JSON.stringify(body ?? null, redactLogField)
  if (text.length > BODY_CHARACTERS_MAX) return { beginning: text.slice(0, BODY_CHARACTERS_MAX) }
  const keptBody: unknown = JSON.parse(text)
  return keptBody
}

const jobsBody = z.object({
  accountId: z.string(),
  tasks: z.array(z.object({ jobId: z.string() })),
})
const webhookBody = z.object({ accountId: z.string(), deliveryId: z.string() })

/**
 * Job or delivery that a dead letter concerns. `state` is the present state, or null if the job or
 * delivery no longer exists.
 */
export type DeadLetterSubject = { type: "job" | "delivery"; id: string; state: string | null }

/** Dead letter with its account and the present state of its jobs or delivery. */
export type DeadLetterDetails = {
  letter: DeadLetter
  accountId: string | null
  subjects: DeadLetterSubject[]
}

/**
 * Returns a dead letter with the present state of its jobs or delivery. Returns null if the dead
 * letter does not exist.
 */
export async function readDeadLetter(env: Env, id: string): Promise<DeadLetterDetails | null> {
  const letter = await findDeadLetter(openDirectory(env), id)
  return letter && { letter, ...(await readSubjects(env, letter.body)) }
}

async function readSubjects(env: Env, body: unknown): Promise<Omit<DeadLetterDetails, "letter">> {
  const { data: webhook } = webhookBody.safeParse(body)
  if (webhook) {
    const { accountId, deliveryId: id } = webhook
    const logged = await findDelivery(openAccountDatabases(env, accountId), id)
    return {
      accountId,
      subjects: [{ type: "delivery", id, state: logged?.delivery.state ?? null }],
    }
  }
  const { data: accepted } = jobsBody.safeParse(body)
  if (!accepted) return { accountId: null, subjects: [] }
  const { accountId, tasks } = accepted
  const ids = [...new Set(tasks.map(({ jobId }) => jobId))].slice(0, JOBS_MAX)
  const subjects = await Promise.all(
    ids.map(async (id): Promise<DeadLetterSubject> => {
      const job = await findJob(openAccountDatabases(env, accountId), id)
      return { type: "job", id, state: job?.state ?? null }
    }),
  )
  return { accountId, subjects }
}
