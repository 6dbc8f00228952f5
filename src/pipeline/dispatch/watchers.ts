import { newId } from "../../ids.ts"
import type { JobChange, Progress, SeenJob } from "../../rpc.ts"
import { openJobProgress } from "./job-progress.ts"
import { isSameProgress } from "./same-progress.ts"
import type { TaskOfJob, WeighedTask } from "./job-progress.ts"

/** Jobs whose versions are remembered; a forgotten one costs its watchers a read of D1. */
const JOBS_MAX = 10_000

/**
 * Progress of jobs, and who waits for a change of it; in memory only, and lost with it. `tasksOf`
 * answers the tasks of a job that are not over.
 */
export function openWatchers(tasksOf: (jobId: string) => readonly WeighedTask[]) {
  // After a restart every version is new, so that no watcher waits for a change that it missed.
  const bootId = newId()
  const versions = new Map<string, number>()
  const endings = new Map<string, number>()
  const progress = openJobProgress(tasksOf)
  const sleepers = new Map<string, Set<() => void>>()
  function now(jobId: string): JobChange {
    const count = versions.get(jobId) ?? 0
    const ended = endings.get(jobId)
    return {
      version: `${bootId}.${count}`,
      endings: ended === undefined ? "" : `${bootId}.${ended}`,
      progress: progress.of(jobId),
    }
  }
  function wake(jobId: string): void {
    for (const wakeOne of sleepers.get(jobId) ?? []) wakeOne()
  }
  function jobChanged(jobId: string): void {
    countUp(versions, jobId)
    wake(jobId)
  }
  function mayBeOver(jobId: string): void {
    countUp(endings, jobId)
    jobChanged(jobId)
  }
  /** A task is over, or waits again; callers do not see the progress of its job fall. */
  function runEnded(task: TaskOfJob): void {
    progress.runEnded(task)
    mayBeOver(task.jobId)
  }
  return {
    progressOf: progress.of,
    progressOfJobs: progress.ofJobs,
    /** D1 may have something new of a job. */
    jobChanged,
    /** D1 may have the end of a job, or of a task of it. */
    mayBeOver,
    runEnded,
    progressed(task: TaskOfJob, reported: Progress): void {
      progress.reported(task, reported)
      wake(task.jobId)
    },
    /** Resolves once a job is no longer as it was seen, or the time is over. */
    async next(jobId: string, seen: SeenJob | null, timeoutMs: number): Promise<JobChange> {
      const until = Date.now() + timeoutMs
      for (;;) {
        const change = now(jobId)
        const leftMs = until - Date.now()
        // More than all of the time is left where the clock was set back.
        const isOver = leftMs <= 0 || leftMs > timeoutMs
        if (seen === null || isNew(change, seen) || isOver) return change
        await sleep(sleepers, jobId, leftMs)
      }
    },
  }
}

/** Counts one more for a job; what was counted longest ago is forgotten. */
function countUp(counts: Map<string, number>, jobId: string): void {
  const count = counts.get(jobId) ?? 0
  counts.delete(jobId)
  counts.set(jobId, count + 1)
  for (const oldest of counts.keys()) {
    if (counts.size <= JOBS_MAX) break
    counts.delete(oldest)
  }
}

function isNew(change: JobChange, seen: SeenJob): boolean {
  if (seen.endings !== undefined) return change.endings !== seen.endings
  if (change.version !== seen.version) return true
  return seen.progress !== undefined && !isSameProgress(change.progress, seen.progress)
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
