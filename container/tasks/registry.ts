import { z } from "zod"
import type { TaskResult, TaskWork } from "../../src/contract/task.ts"
import type { TaskDefinition, ToolName } from "../../src/contract/tasks/definition.ts"
import { command } from "./command.ts"
import { fetchPage } from "./fetch.ts"
import { metadata } from "./metadata.ts"
import { normalize } from "./normalize.ts"
import { importRunner } from "./import.ts"
import { probe } from "./probe.ts"
import { render } from "./render.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"
import { transcribe } from "./transcribe.ts"

/** A task whose work has been parsed; runs it. */
export type RunnableTask = (context: RunContext) => Promise<TaskOutcome>

/** A task that can run, and the pool that its kind belongs to. */
export type ParsedTask = { run: RunnableTask; pool: string }

/** A kind of task that this runner can do. */
type TaskRunner = {
  definition: TaskDefinition
  /** Parses the work of a task of this kind; a bad one is described in a sentence. */
  parse(work: TaskWork): ParsedTask | { error: string }
}

/** Makes the runner of a kind of task, which parses the work before it is run. */
function makeTaskRunner<Work extends z.ZodType, Result extends z.ZodType<TaskResult>>({
  definition,
  run,
}: {
  definition: TaskDefinition<Work, Result>
  run: (context: RunContext, work: z.output<Work>) => Promise<TaskOutcome<z.output<Result>>>
}): TaskRunner {
  return {
    definition,
    parse(work) {
      const parsed = definition.work.safeParse(work)
      if (parsed.success) {
        return { run: (context) => run(context, parsed.data), pool: definition.pool(parsed.data) }
      }
      const problem = z.prettifyError(parsed.error)
      return { error: `The work of the ${definition.name} task is not valid: ${problem}` }
    },
  }
}

/** The kinds of tasks that this runner does. */
const TASK_RUNNERS: readonly TaskRunner[] = [
  // One line for each.
  makeTaskRunner(probe),
  makeTaskRunner(command),
  makeTaskRunner(fetchPage),
  makeTaskRunner(metadata),
  makeTaskRunner(importRunner),
  makeTaskRunner(transcribe),
  makeTaskRunner(normalize),
  makeTaskRunner(render),
]

const runnersByName = new Map(TASK_RUNNERS.map((runner) => [runner.definition.name, runner]))

/** Programs that these tasks need, each once. */
export const TASK_TOOLS: readonly ToolName[] = [
  ...new Set(TASK_RUNNERS.flatMap(({ definition }) => definition.tools)),
]

/** Parses the work of a task by its kind; what is not valid is described in a sentence. */
export function parseTask(work: TaskWork): ParsedTask | { error: string } {
  const runner = runnersByName.get(work.kind)
  if (runner) return runner.parse(work)
  const kinds = [...runnersByName.keys()].join(", ")
  return { error: `This runner does not do tasks of the kind "${work.kind}", only: ${kinds}.` }
}
