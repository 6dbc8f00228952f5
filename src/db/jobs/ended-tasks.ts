import { z } from "zod"
import { taskWorkSchema } from "../../contract/task.ts"
import { compressText, decompressText } from "../values/compressed-text.ts"
import type { Job } from "../schema/jobs.ts"
import { isFinalState, STATES } from "../../domain/states.ts"
import type { Task } from "../schema/tasks.ts"
import type { JobSnapshot } from "../../domain/snapshot.ts"

// The end of a job deletes the rows of its tasks and inputs, because no query reads a single task
// of a finished job. The job's row keeps the task fields that late reports, retries and the log
// need.

/** Maximum length of the compressed tasks as JSON, in characters. Longer tasks keep their rows. */
const ENDED_LENGTH_MAX = 256 * 1024

const endedTasks = z.object({
  tasks: z.array(
    z.object({
      id: z.string(),
      state: z.enum(STATES),
      fence: z.number(),
      weight: z.number(),
      pool: z.string(),
      work: taskWorkSchema,
      failures: z.number(),
      interruptions: z.number(),
      handOvers: z.number(),
    }),
  ),
  inputs: z.array(
    z.object({
      taskId: z.string(),
      key: z.string(),
      fileId: z.string(),
      awaitsProbe: z.boolean(),
    }),
  ),
  /** Log of FFmpeg or another tool, from the first task that has a log. */
  log: z.string().exactOptional(),
})

type EndedTasks = z.infer<typeof endedTasks>

const withLog = z.looseObject({ log: z.string().optional() })

/** Changes of a job and its tasks, which are part of a transition. */
type TaskChanges = { job: Partial<Job>; tasks: { id: string; set: Partial<Task> }[] }

/**
 * Returns the tasks and inputs of a job that a transition ends, as compressed JSON. Returns null if
 * the transition does not end the job. Also returns null if the tasks keep their rows, because they
 * are too large or have values in R2.
 */
export function packEndedTasks(
  { tasks, inputs }: JobSnapshot,
  { job, tasks: changes }: TaskChanges,
): string | Uint8Array | null {
  if (!job.state || !isFinalState(job.state)) return null
  const sets = new Map(changes.map(({ id, set }) => [id, set]))
  const tasksAfter = tasks.map((task) => ({ ...task, ...sets.get(task.id) }))
  if (tasksAfter.some((task) => task.workObjectKey !== null || task.resultObjectKey !== null))
    return null
  const log = tasksAfter.map(({ result }) => withLog.nullable().parse(result)?.log).find(isKnown)
  const folded: EndedTasks = {
    tasks: tasksAfter.map(({ id, state, fence, weight, pool, work, ...task }) => {
      const { failures, interruptions, handOvers } = task
      return { id, state, fence, weight, pool, work, failures, interruptions, handOvers }
    }),
    inputs,
    ...(log !== undefined && { log }),
  }
  const text = JSON.stringify(folded)
  return text.length > ENDED_LENGTH_MAX ? null : compressText(text)
}

/**
 * Restores the tasks and inputs of a finished job from the job's row. Returns null if the tasks and
 * inputs still have rows of their own.
 */
export function unpackEndedTasks(job: Job): Pick<JobSnapshot, "tasks" | "inputs"> | null {
  const earlier = readEnded(job.endedTasks)
  if (!earlier) return null
  const { id: jobId, accountId, priority, createdAt, completedAt } = job
  const ofJob = { jobId, accountId, priority, createdAt, completedAt, requeuedAt: null }
  const noRun = { slot: null, allocation: null, result: null }
  const noValues = { workObjectKey: null, resultObjectKey: null }
  return {
    tasks: earlier.tasks.map((task): Task => ({ ...task, ...ofJob, ...noRun, ...noValues })),
    inputs: earlier.inputs,
  }
}

/**
 * Returns the tools' log of a finished job from the column `ended_tasks`; undefined if the job has
 * no log.
 */
export function readLogOfEndedTasks(column: unknown): string | undefined {
  return readEnded(column)?.log
}

function readEnded(column: unknown): EndedTasks | null {
  if (column === null || column === undefined) return null
  return endedTasks.parse(JSON.parse(decompressText(column)))
}

function isKnown(log: string | undefined): boolean {
  return log !== undefined
}
