import { z } from "zod"
import { redactFact } from "../../contract/redact.ts"
import type { Env } from "../../env.ts"
import { databaseOf, directoryOf } from "../../storage/database.ts"
import { findDeadLetter, insertDeadLetters } from "../../storage/dead-letters.ts"
import { findDelivery } from "../../storage/deliveries.ts"
import { findJob } from "../../storage/jobs.ts"
import type { DeadLetter } from "../../storage/schema/operations.ts"

/** Three bytes each at most, so that a row has room for them. */
const BODY_CHARACTERS_MAX = 10_000
const JOBS_MAX = 20

/** A message of a queue, as far as it is kept. */
type QueueMessage = { id: string; body: unknown }

/** Keeps messages that their consumer could not take, so that an operator sees them. */
export async function keepDeadLetters(
  env: Env,
  queue: string,
  messages: readonly QueueMessage[],
): Promise<void> {
  const receivedAt = Date.now()
  const letters = messages.map(({ id, body }) => ({ id, queue, body: keptBody(body), receivedAt }))
  await insertDeadLetters(directoryOf(env), letters)
}

/** A body without secrets; of one that is too large its beginning. */
function keptBody(body: unknown): unknown {
  const text = JSON.stringify(body ?? null, redactFact)
  if (text.length > BODY_CHARACTERS_MAX) return { beginning: text.slice(0, BODY_CHARACTERS_MAX) }
  const kept: unknown = JSON.parse(text)
  return kept
}

const jobsBody = z.object({
  accountId: z.string(),
  tasks: z.array(z.object({ jobId: z.string() })),
})
const webhookBody = z.object({ accountId: z.string(), deliveryId: z.string() })

/** Something that a message was about, and the state that it is in now; null: it is gone. */
export type LetterSubject = { type: "job" | "delivery"; id: string; state: string | null }

/** A message, whose account it is, and what has become of what it was about. */
export type ReadLetter = {
  letter: DeadLetter
  accountId: string | null
  subjects: LetterSubject[]
}

/** A message that was kept, with what has become of what it was about; null where it is not there. */
export async function readDeadLetter(env: Env, id: string): Promise<ReadLetter | null> {
  const letter = await findDeadLetter(directoryOf(env), id)
  return letter && { letter, ...(await readSubjects(env, letter.body)) }
}

async function readSubjects(env: Env, body: unknown): Promise<Omit<ReadLetter, "letter">> {
  const { data: webhook } = webhookBody.safeParse(body)
  if (webhook) {
    const { accountId, deliveryId: id } = webhook
    const logged = await findDelivery(databaseOf(env, accountId), id)
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
    ids.map(async (id): Promise<LetterSubject> => {
      const job = await findJob(databaseOf(env, accountId), id)
      return { type: "job", id, state: job?.state ?? null }
    }),
  )
  return { accountId, subjects }
}
