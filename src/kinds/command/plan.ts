import { commandTaskDefinition } from "../../contract/tasks/command.ts"
import type { CommandWork } from "../../contract/tasks/command.ts"
import type { TaskOutput } from "../../contract/task.ts"
import { newId } from "../../platform/ids.ts"
import { draftInputs, draftJobRow, draftOutputFile, draftTask } from "../../domain/job-draft.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import type { DraftContext } from "../kind.ts"
import { findUnusedInputWarnings } from "./unused-inputs.ts"

/**
 * Drafts the database rows of a job that runs commands: a single task, and a file for each output.
 * Each command is a list of words.
 */
export function draftCommandJob(
  facts: DraftContext,
  work: {
    kind: CommandWork["form"]
    request: unknown
    commands: string[][]
    outputs: TaskOutput[]
  },
): JobDraft {
  const id = newId()
  const { kind, request, commands, outputs } = work
  const warnings = findUnusedInputWarnings(commands, facts.inputs)
  const task = draftTask(facts, {
    jobId: id,
    pool: commandTaskDefinition.pool(),
    work: {
      kind: "command",
      commands,
      outputs,
      run_seconds_max: facts.runSecondsMax,
      ...(kind !== "command" && { form: kind }),
    },
    ...draftInputs(facts.inputs),
  })
  return {
    job: { ...draftJobRow(facts, { id, kind, request }), ...(warnings.length > 0 && { warnings }) },
    tasks: [task],
    files: outputs.map(({ key, name }) =>
      draftOutputFile(facts, { jobId: id, outputKey: key, name }),
    ),
  }
}
