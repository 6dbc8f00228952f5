import type { Env } from "../../env.ts"
import { log } from "../../log.ts"
import { countEvent } from "../../metrics.ts"
import { isFinal } from "../../storage/schema/states.ts"
import type { JobSnapshot, Transition } from "../../storage/transitions.ts"

/** Logs and counts the end of a job, where a transition that was written is one. */
export function noteEnd(env: Env, before: JobSnapshot, transition: Transition): void {
  const job = { ...before.job, ...transition.job }
  const { state, kind, createdAt, startedAt, completedAt } = job
  if (!isFinal(state)) return
  const endedAt = completedAt ?? Date.now()
  const waitMs = Math.max(0, (startedAt ?? endedAt) - createdAt)
  const runMs = startedAt === null ? null : Math.max(0, endedAt - startedAt)
  const errorCode = job.errorCode ?? null
  log("info", "job.ended", {
    request_id: job.requestId,
    account_id: job.accountId,
    key_id: job.keyId,
    job_id: job.id,
    kind,
    state,
    error_code: errorCode,
    attempts: job.attempts,
    wait_ms: waitMs,
    run_ms: runMs,
    processing_ms: job.processingMs,
  })
  countEvent(env, { event: "job", kind, state, errorCode, waitMs, runMs })
}
