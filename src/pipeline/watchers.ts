import { newId } from "../ids.ts"

/** Jobs whose moves are remembered; one that is forgotten costs its watchers a look at D1. */
const JOBS_MAX = 10_000

/** How far a job is: `percent` from 0 to 100, `etaSeconds` where it can be told. */
export type Progress = { percent: number; etaSeconds?: number | undefined }

/** What a watcher knows of a job: its moves, and its progress where that is to wake it too. */
export type Seen = { moves: string; percent?: number }

/** A job at a moment: `moves` is another text whenever D1 may say something new of it. */
export type Change = { moves: string; progress: Progress | null }

/** How far jobs are and who waits to hear of it; all in memory, and lost with it. */
export function openWatchers() {
  // Another life of this memory has other moves, so nobody waits for what came between.
  const life = newId()
  const moves = new Map<string, number>()
  const progress = new Map<string, Progress>()
  const sleepers = new Map<string, Set<() => void>>()
  function now(jobId: string): Change {
    const count = moves.get(jobId) ?? 0
    return { moves: `${life}.${count}`, progress: progress.get(jobId) ?? null }
  }
  function wake(jobId: string): void {
    for (const wakeOne of sleepers.get(jobId) ?? []) wakeOne()
  }
  function moved(jobId: string): void {
    const count = moves.get(jobId) ?? 0
    moves.delete(jobId)
    moves.set(jobId, count + 1)
    for (const oldest of moves.keys()) {
      if (moves.size <= JOBS_MAX) break
      moves.delete(oldest)
    }
    wake(jobId)
  }
  return {
    progressOf: (jobId: string) => progress.get(jobId) ?? null,
    /** D1 may say something new of a job. */
    moved,
    /** No task of a job runs as it did: what was known of its progress no longer holds. */
    stopped(jobId: string): void {
      progress.delete(jobId)
      moved(jobId)
    },
    /** A task of a job waits again; callers do not see its progress fall. */
    paused(jobId: string): void {
      const known = progress.get(jobId)
      if (known) progress.set(jobId, { percent: known.percent })
      moved(jobId)
    },
    progressed(jobId: string, told: Progress): void {
      const percent = Math.max(told.percent, progress.get(jobId)?.percent ?? 0)
      progress.set(jobId, { ...told, percent })
      wake(jobId)
    },
    /** Resolves once a job is no longer as it was seen, or the time is over. */
    async next(jobId: string, seen: Seen | null, timeoutMs: number): Promise<Change> {
      const until = Date.now() + timeoutMs
      for (;;) {
        const change = now(jobId)
        const leftMs = until - Date.now()
        if (seen === null || isNew(change, seen) || leftMs <= 0) return change
        await sleep(sleepers, jobId, leftMs)
      }
    },
  }
}

function isNew(change: Change, seen: Seen): boolean {
  if (change.moves !== seen.moves) return true
  return seen.percent !== undefined && (change.progress?.percent ?? 0) !== seen.percent
}

async function sleep(
  sleepers: Map<string, Set<() => void>>,
  jobId: string,
  timeoutMs: number,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const ofJob = sleepers.get(jobId) ?? new Set()
  sleepers.set(jobId, ofJob.add(resolve))
  const timer = setTimeout(resolve, timeoutMs)
  await promise
  clearTimeout(timer)
  ofJob.delete(resolve)
  if (ofJob.size === 0 && sleepers.get(jobId) === ofJob) sleepers.delete(jobId)
}
