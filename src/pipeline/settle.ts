import type { Failure } from "../contract/failure.ts"
import { isFinal } from "../contract/state.ts"
import type { FinalState } from "../contract/state.ts"
import { logError } from "../log.ts"
import type { Env } from "../env.ts"
import { openDatabase } from "../storage/database.ts"
import { findWaitingDelivery } from "../storage/deliveries.ts"
import { moveJob, readSnapshot } from "../storage/jobs.ts"
import type { Moves, Snapshot } from "../storage/jobs.ts"
import type { Job } from "../storage/schema.ts"
import { storeProbe } from "../storage/probes.ts"
import type { TaskRun } from "../runner/token.ts"
import { progressOf } from "./progress.ts"
import { makeEndNotice } from "./end-notice.ts"
import { endMoves, settleMoves } from "./job.ts"
import type { TerminalReport } from "./job.ts"

const TRIES_MAX = 10

/** `repeated` is the word of the report that ended the task, heard again. */
export type Settled = "settled" | "repeated" | "stale"

/** Moves a job by what its runner says at the end of a task, once, whatever races with it. */
export async function settle(
  env: Env,
  run: TaskRun,
  report: TerminalReport,
): Promise<{ outcome: Settled; taskIds: string[] }> {
  const told = { taskId: run.taskId, fence: run.fence, report, now: Date.now() }
  const task = await move(env, run.jobId, (snapshot) => settleMoves(snapshot, told))
  if (task.moved) return { outcome: "settled", taskIds: task.taskIds }
  if (!task.snapshot || !wasEndedBy(task.snapshot, run, report)) {
    return { outcome: "stale", taskIds: task.taskIds }
  }
  const waiting = await findWaitingDelivery(openDatabase(env.DB), run.jobId)
  if (waiting) await nudgeDelivery(env, waiting)
  return { outcome: "repeated", taskIds: task.taskIds }
}

/** Ends a job that is still open, for a reason of ours; the ids of its tasks, none if it was over. */
export async function endJob(
  env: Env,
  jobId: string,
  end: { state: FinalState; failure: Failure },
): Promise<string[]> {
  const { moved, taskIds } = await move(env, jobId, (snapshot) =>
    isFinal(snapshot.job.state) ? null : endMoves(snapshot, { ...end, now: Date.now() }),
  )
  return moved ? taskIds : []
}

/** Reads, computes and writes until nobody came between; `moved` is false where nothing is to do. */
export async function move(
  env: Env,
  jobId: string,
  compute: (snapshot: Snapshot) => Moves | null,
): Promise<{ moved: boolean; taskIds: string[]; snapshot: Snapshot | null }> {
  const database = openDatabase(env.DB)
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const snapshot = await readSnapshot(database, jobId)
    const taskIds = snapshot?.tasks.map((task) => task.id) ?? []
    const moves = snapshot && compute(snapshot)
    if (!snapshot || !moves) return { moved: false, taskIds, snapshot }
    const now = Date.now()
    if (endsEarly(moves)) moves.job.progress = await percentOf(env, snapshot.job)
    const delivery = makeEndNotice(snapshot, moves, now)
    await keepBigProbes(env, snapshot, moves)
    const { version } = snapshot.job
    const told = delivery ? { ...moves, delivery } : moves
    if (await moveJob(database, { jobId, version, moves: told, now })) {
      if (delivery) await nudgeDelivery(env, delivery.id)
      return { moved: true, taskIds, snapshot }
    }
  }
  throw new Error(`job ${jobId} was moved by others ${TRIES_MAX} times in a row`)
}

/** Sends the message that a delivery is due; should it be lost, the sweep sends another. */
export async function nudgeDelivery(env: Env, deliveryId: string, delaySeconds = 0): Promise<void> {
  try {
    await env.WEBHOOKS.send({ deliveryId }, { delaySeconds })
  } catch (error) {
    logError("webhooks.send_failed", { error: String(error) })
  }
}

function endsEarly({ job }: Moves): boolean {
  return job.state === "failed" || job.state === "canceled"
}

/** How far a job was; not worth a failure where nobody can tell. */
async function percentOf(env: Env, job: Job): Promise<number | null> {
  try {
    return (await progressOf(env, job))?.percent ?? null
  } catch {
    return null
  }
}

function wasEndedBy(snapshot: Snapshot, run: TaskRun, report: TerminalReport): boolean {
  const task = snapshot.tasks.find((known) => known.id === run.taskId)
  if (!task || task.fence !== run.fence) return false
  return task.state === (report.kind === "finished" ? "succeeded" : "failed")
}

async function keepBigProbes(env: Env, snapshot: Snapshot, moves: Moves): Promise<void> {
  for (const { id, set } of moves.files) {
    const stored = set.objectKey ?? snapshot.files.find((file) => file.id === id)?.objectKey
    if (set.probe && stored) Object.assign(set, await storeProbe(env.MEDIA, set.probe, stored))
  }
}
