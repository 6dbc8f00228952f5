import { isFinal } from "../contract/state.ts"
import { newId } from "../ids.ts"
import type { Moves, Snapshot } from "../storage/jobs.ts"

/** Makes the record of a job that is over, as GET answers it. */
export type ViewRecord = (ended: Snapshot) => unknown

const views: { record: ViewRecord | null } = { record: null }

/** Says how records look; the entry file calls it, since the pipeline knows no views. */
export function useRecords(view: ViewRecord): void {
  views.record = view
}

/** The webhook that tells of a job's end, with the bytes that every try sends; none is owed else. */
export function makeEndNotice(before: Snapshot, moves: Moves, now: number): Moves["delivery"] {
  const ended = applyMoves(before, moves)
  const { job } = ended
  if (job.webhookUrl === null || !isFinal(job.state)) return undefined
  if (!views.record) throw new Error("no views of records were given")
  const type = `${job.kind}.${job.state}`
  const timestamp = new Date(now).toISOString()
  return {
    id: newId(),
    accountId: job.accountId,
    jobId: job.id,
    type,
    url: job.webhookUrl,
    body: JSON.stringify({ type, timestamp, data: views.record(ended) }),
    state: "waiting",
    nextTryAt: now,
    createdAt: now,
  }
}

/** A snapshot as it is once the moves are written. */
function applyMoves({ job, tasks, files }: Snapshot, moves: Moves): Snapshot {
  const tasksMoved = new Map(moves.tasks.map(({ id, set }) => [id, set]))
  const filesMoved = new Map(moves.files.map(({ id, set }) => [id, set]))
  return {
    job: { ...job, ...moves.job },
    tasks: tasks.map((task) => ({ ...task, ...tasksMoved.get(task.id) })),
    files: files.map((file) => ({ ...file, ...filesMoved.get(file.id) })),
  }
}
