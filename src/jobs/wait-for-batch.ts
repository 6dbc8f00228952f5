import type { Env } from "../bindings/env.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import type { JobVersionsSeenByCaller, WatchedJobStates } from "../bindings/rpc.ts"
import type { BatchWithJobs } from "../domain/batch.ts"
import type { Progress } from "../domain/progress.ts"
import { sumProgressPercents } from "../scheduler/progress.ts"
import { readBatch } from "./batches.ts"
import { requestChangeFromDispatcher } from "./wait.ts"

/** Shortest interval between two states of a batch that a stream sends, in milliseconds. */
const STEP_MS = 200

type BatchAddress = { accountId: string; batchId: string }

/** Batch with the progress of its open jobs by id. */
export type BatchWithProgress = { found: BatchWithJobs; progress: ReadonlyMap<string, Progress> }

/**
 * Waits until the last job of a batch ends. Returns the batch, or its present state after
 * `timeoutMs`; null if the account has no such batch.
 */
export async function awaitBatchEnd(
  env: Env,
  address: BatchAddress,
  timeoutMs: number | null,
): Promise<BatchWithJobs | null> {
  const until = Date.now() + (timeoutMs ?? 0)
  let lastSeen: JobVersionsSeenByCaller | null = null
  for (;;) {
    const found = await readBatch(env, address)
    const leftMs = until - Date.now()
    if (!found || found.batch.openJobs === 0 || leftMs <= 0) return found
    const changes: WatchedJobStates = await nextChanges(env, found, lastSeen, leftMs)
    lastSeen = { version: changes.version, endings: changes.endings }
  }
}

/**
 * Yields a batch at once and after each change, until the last job ends, the batch is deleted, or
 * `timeoutMs` has passed. Without a change for a while, yields the unchanged batch again.
 */
export async function* followBatch(
  env: Env,
  address: BatchAddress,
  timeoutMs: number,
): AsyncGenerator<BatchWithProgress> {
  const until = Date.now() + timeoutMs
  let found: BatchWithJobs | null = await readBatch(env, address)
  let lastSeen: JobVersionsSeenByCaller | null = null
  while (found) {
    const leftMs = Math.max(0, until - Date.now())
    const changes: WatchedJobStates = await nextChanges(env, found, lastSeen, leftMs)
    const isChanged: boolean = lastSeen === null || lastSeen.version !== changes.version
    if (isChanged) found = await readBatch(env, address)
    if (!found) return
    yield { found, progress: changes.progress }
    if (found.batch.openJobs === 0 || leftMs === 0) return
    lastSeen = { version: changes.version, percent: sumProgressPercents(changes) }
    await scheduler.wait(STEP_MS)
  }
}

async function nextChanges(
  env: Env,
  { batch, jobs }: BatchWithJobs,
  lastSeen: JobVersionsSeenByCaller | null,
  timeoutMs: number,
): Promise<WatchedJobStates> {
  const ids = jobs.map(({ id }) => id)
  const changes = await requestChangeFromDispatcher(
    { batch_id: batch.id },
    timeoutMs,
    async (askedMs) => {
      return await getDispatcher(env, batch.accountId).nextChangeOfJobs(ids, lastSeen, askedMs)
    },
  )
  return changes ?? { version: "", endings: "", progress: new Map() }
}
