import { z } from "zod"
import type { TaskResult, TaskWork } from "../../src/contract/task.ts"
import type { TaskDefinition, ToolName } from "../../src/contract/tasks/definition.ts"
import { commandTaskHandler } from "./command/command.ts"
import { fetchTaskHandler } from "./fetch.ts"
import { metadataTaskHandler } from "./metadata.ts"
import { normalizeTaskHandler } from "./normalize/normalize.ts"
import { importTaskHandler } from "./import/import-source.ts"
import { probeTaskHandler } from "./probe.ts"
import { renderTaskHandler } from "./render/render.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"
import { transcribeTaskHandler } from "./transcribe/transcribe.ts"

/** Function that runs a task whose parameters (`work`) are already parsed. */
export type ParsedTaskRunner = (context: RunContext) => Promise<TaskOutcome>

/** Function that runs a parsed task, and the name of the runner pool in which such tasks run. */
export type ParsedTask = { run: ParsedTaskRunner; pool: string }

/** Parser for the parameters (`work`) of one kind of task. */
type TaskParser = {
  definition: TaskDefinition
  /** Parses `work` of a task of this kind. Returns an error sentence if `work` is invalid. */
  parse(work: TaskWork): ParsedTask | { error: string }
}

/**
 * Creates a task parser from the definition of a kind of task and the function that runs such
 * tasks.
 */
function makeTaskParser<Work extends z.ZodType, Result extends z.ZodType<TaskResult>>({
  definition,
  run,
}: {
  definition: TaskDefinition<Work, Result>
  run: (context: RunContext, work: z.output<Work>) => Promise<TaskOutcome<z.output<Result>>>
}): TaskParser {
  return {
    definition,
    parse(work) {
      const parsed = definition.work.safeParse(work)
      if (parsed.success) {
        return { run: (context) => run(context, parsed.data), pool: definition.pool(parsed.data) }
      }
      const problem = z.prettifyError(parsed.error)
      return { error: `The work of the ${definition.name} task is invalid: ${problem}` }
    },
  }
}

/** Parsers of the kinds of tasks that this runner supports. */
const TASK_PARSERS: readonly TaskParser[] = [
  makeTaskParser(probeTaskHandler),
  makeTaskParser(commandTaskHandler),
  makeTaskParser(fetchTaskHandler),
  makeTaskParser(metadataTaskHandler),
  makeTaskParser(importTaskHandler),
  makeTaskParser(transcribeTaskHandler),
  makeTaskParser(normalizeTaskHandler),
  makeTaskParser(renderTaskHandler),
]

const parsersByName = new Map(TASK_PARSERS.map((runner) => [runner.definition.name, runner]))

/** Names of the programs that the supported kinds of tasks need, without duplicates. */
export const TASK_TOOL_NAMES: readonly ToolName[] = [
  ...new Set(TASK_PARSERS.flatMap(({ definition }) => definition.tools)),
]

/**
 * Parses `work` of a task by the kind of the task. Returns an error sentence if `work` is invalid
 * or the kind is unknown.
 */
export function parseTask(work: TaskWork): ParsedTask | { error: string } {
  const runner = parsersByName.get(work.kind)
  if (runner) return runner.parse(work)
  const kinds = [...parsersByName.keys()].join(", ")
  return { error: `This runner does not support tasks of the kind "${work.kind}", only: ${kinds}.` }
}
