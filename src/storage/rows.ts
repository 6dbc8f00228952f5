import type { JobKind } from "../contract/state.ts"
import type { TaskWork } from "../contract/task.ts"
import { newId } from "../ids.ts"

/** What every job is made of, whatever its kind. */
export type JobFacts = {
  accountId: string
  /** Under which origin the caller knows the service. */
  origin: string
  now: number
  priority: number
  metadata: Record<string, string> | null
  webhookUrl: string | null
  retryOf?: string
}

/** The row of a new job. */
export function makeJob(facts: JobFacts, made: { id: string; kind: JobKind; request: unknown }) {
  const { accountId, origin, priority, metadata, webhookUrl, retryOf = null } = facts
  return {
    ...made,
    accountId,
    origin,
    priority,
    metadata,
    webhookUrl,
    retryOf,
    state: "waiting" as const,
    version: 0,
    createdAt: facts.now,
  }
}

export type MadeTask = {
  jobId: string
  work: TaskWork
  inputs: { key: string; fileId: string }[]
  /** Whether an input is still on its way. */
  blocked: boolean
}

/** The rows of a new task. */
export function makeTask(facts: JobFacts, { jobId, work, inputs, blocked }: MadeTask) {
  const { accountId, priority, now } = facts
  const state = "waiting" as const
  const task = { id: newId(), jobId, accountId, state, priority, work, createdAt: now }
  return { task, inputs, blocked }
}

/** The row of a file that a job is to make. */
export function makeFileToCome(
  facts: JobFacts,
  made: { jobId: string; outputKey: string; name: string },
) {
  return {
    ...made,
    id: newId(),
    accountId: facts.accountId,
    source: "output" as const,
    state: "waiting" as const,
    createdAt: facts.now,
  }
}
