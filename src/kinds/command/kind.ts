import { z } from "zod"
import { substitute, commandTask } from "../../contract/tasks/command.ts"
import { newId } from "../../ids.ts"
import { draftInputs, draftJob, draftOutput, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"
import { jsonKind } from "../kind.ts"
import type { FoundInput, PlanFacts } from "../kind.ts"
import { finishOutputs } from "../outputs.ts"
import { judgeCommand, workspaceNames } from "./judge.ts"
import { linesOf, readLine, readWords } from "./lines.ts"
import { commandRecord, viewCommand } from "./record.ts"
import { commandRequest, EXAMPLE, readUsable } from "./request.ts"
import type { CommandPart, CommandRequest } from "./request.ts"

/** One ffmpeg command, or several that run one after the other on the same files. */
export const command = jsonKind({
  name: "command",
  path: "commands",
  title: "command",
  idField: "command_id",
  tasks: [commandTask],
  request: commandRequest,
  example: EXAMPLE,
  readUsable,
  references: ({ input_files }) =>
    Object.entries(input_files).map(([key, reference]) => {
      return { key, field: `input_files.${key}`, reference }
    }),
  inputField: (key) => `input_files.${key}`,
  judge: judgeCommand,
  preview: {
    schema: z.object({ commands: z.array(z.array(z.string())) }),
    show: (request, inputs) => ({ commands: readArguments(request, inputs) }),
  },
  plan: planCommand,
  finish: finishOutputs,
  record: commandRecord,
  view: (base, { job }, progress) => viewCommand(base, job, progress),
})

/** One task, and a file to come for each output. */
function planCommand(request: CommandRequest, facts: PlanFacts): JobDraft {
  const id = newId()
  const outputs = Object.entries(request.output_files).map(([key, name]) => ({ key, name }))
  const task = draftTask(facts, {
    jobId: id,
    pool: commandTask.pool(),
    work: {
      kind: "command",
      commands: readWords(request),
      outputs,
      run_seconds_max: facts.runSecondsMax,
    },
    ...draftInputs(facts.inputs),
  })
  return {
    job: draftJob(facts, { id, kind: "command", request }),
    tasks: [task],
    files: outputs.map(({ key, name }) => draftOutput(facts, { jobId: id, outputKey: key, name })),
  }
}

/** Each command with the program's name and with names in the place of keys; `[]` if unreadable. */
function readArguments(request: CommandPart, inputs: FoundInput[]): string[][] {
  const names = new Map([
    ...workspaceNames(request.input_files, inputs),
    ...Object.entries(request.output_files),
  ])
  return linesOf(request).map((line) => {
    const read = readLine(line)
    return "words" in read ? ["ffmpeg", ...substitute(read.words, names)] : []
  })
}
