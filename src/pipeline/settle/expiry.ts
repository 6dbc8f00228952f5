import { isFinal } from "../../storage/schema/states.ts"
import type { JobSnapshot, Transition } from "../../storage/transitions.ts"
import { expired } from "./attempts.ts"
import { endTransition } from "./transitions.ts"

/** Ends an open job that no runner took a task of for too long; null where it may wait on. */
export function expiryTransition(
  snapshot: JobSnapshot,
  { now, waitMsMax }: { now: number; waitMsMax: number },
): Transition | null {
  if (isFinal(snapshot.job.state) || waitingSince(snapshot) + waitMsMax > now) return null
  return endTransition(snapshot, { state: "failed", failure: expired(), now })
}

/**
 * Since when a job waits while no runner has a task of it: since its creation or, where one had, since
 * the last run of any of its tasks ended.
 */
export function waitingSince({ job, tasks }: JobSnapshot): number {
  if (job.startedAt === null) return job.createdAt
  const ends = tasks.flatMap(({ requeuedAt, completedAt }) => [requeuedAt ?? 0, completedAt ?? 0])
  return Math.max(job.startedAt, ...ends)
}
