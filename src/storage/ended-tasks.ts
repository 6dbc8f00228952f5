import { z } from "zod"
import { taskWork } from "../contract/task.ts"
import { packText, unpackText } from "./packed-text.ts"
import type { Job } from "./schema/jobs.ts"
import { isFinal, STATES } from "./schema/states.ts"
import type { Task } from "./schema/tasks.ts"
import type { JobSnapshot, Transition } from "./transitions.ts"

// Nothing asks for a task of a job that is over by itself. So the end of a job removes the rows of its
// tasks and of their inputs, and the job's own row keeps what a late report, a retry and the log need.

/** A text above this many characters is not packed; the tasks of its job keep their rows. */
const ENDED_LENGTH_MAX = 256 * 1024

const endedTasks = z.object({
  tasks: z.array(
    z.object({
      id: z.string(),
      state: z.enum(STATES),
      fence: z.number(),
      weight: z.number(),
      pool: z.string().nullable(),
      work: taskWork,
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
  /** What the tools of the first task that has it said. */
  log: z.string().exactOptional(),
})

type EndedTasks = z.infer<typeof endedTasks>

const withLog = z.looseObject({ log: z.string().optional() })

/**
 * What the row of a job keeps of its tasks once a transition has ended it, packed; null where it does
 * not end, or where its tasks are too much for it or have values in R2, and keep rows of their own.
 */
export function foldTasks(
  { tasks, inputs }: JobSnapshot,
  { job, tasks: changes }: Pick<Transition, "job" | "tasks">,
): string | Uint8Array | null {
  if (!job.state || !isFinal(job.state)) return null
  const sets = new Map(changes.map(({ id, set }) => [id, set]))
  const ended = tasks.map((task) => ({ ...task, ...sets.get(task.id) }))
  if (ended.some((task) => task.workObjectKey !== null || task.resultObjectKey !== null))
    return null
  const log = ended.map(({ result }) => withLog.nullable().parse(result)?.log).find(isKnown)
  const folded: EndedTasks = {
    tasks: ended.map(({ id, state, fence, weight, pool, work, ...task }) => {
      const { failures, interruptions, handOvers } = task
      return { id, state, fence, weight, pool, work, failures, interruptions, handOvers }
    }),
    inputs,
    ...(log !== undefined && { log }),
  }
  const text = JSON.stringify(folded)
  return text.length > ENDED_LENGTH_MAX ? null : packText(text)
}

/** The tasks of a job that is over, and their inputs; null where they have rows of their own. */
export function unfoldTasks(job: Job): Pick<JobSnapshot, "tasks" | "inputs"> | null {
  const known = readEnded(job.endedTasks)
  if (!known) return null
  const { id: jobId, accountId, priority, createdAt, completedAt } = job
  const ofJob = { jobId, accountId, priority, createdAt, completedAt, requeuedAt: null }
  const noRun = { slot: null, allocation: null, result: null }
  const noValues = { workObjectKey: null, resultObjectKey: null }
  return {
    tasks: known.tasks.map((task): Task => ({ ...task, ...ofJob, ...noRun, ...noValues })),
    inputs: known.inputs,
  }
}

/** What the tools of a job that is over said, by what its row keeps of its tasks. */
export function endedLog(stored: unknown): string | undefined {
  return readEnded(stored)?.log
}

function readEnded(stored: unknown): EndedTasks | null {
  if (stored === null || stored === undefined) return null
  return endedTasks.parse(JSON.parse(unpackText(stored)))
}

function isKnown(log: string | undefined): boolean {
  return log !== undefined
}
