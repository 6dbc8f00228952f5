import { commandTask } from "../../contract/tasks/command.ts"
import type { TaskOutput } from "../../contract/task.ts"
import { newId } from "../../ids.ts"
import { draftInputs, draftJob, draftOutput, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"
import type { PlanFacts } from "../kind.ts"

/** A job of this kind whose one task runs commands, given as words, and a file to come for each output. */
export function draftCommand(
  facts: PlanFacts,
  made: { kind: string; request: unknown; commands: string[][]; outputs: TaskOutput[] },
): JobDraft {
  const id = newId()
  const { kind, request, commands, outputs } = made
  const task = draftTask(facts, {
    jobId: id,
    pool: commandTask.pool(),
    work: { kind: "command", commands, outputs, run_seconds_max: facts.runSecondsMax },
    ...draftInputs(facts.inputs),
  })
  return {
    job: draftJob(facts, { id, kind, request }),
    tasks: [task],
    files: outputs.map(({ key, name }) => draftOutput(facts, { jobId: id, outputKey: key, name })),
  }
}
