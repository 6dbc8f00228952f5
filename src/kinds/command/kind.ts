import { z } from "zod"
import { substitute, commandTask } from "../../contract/tasks/command.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"
import { jsonKind } from "../kind.ts"
import type { FoundInput, PlanFacts } from "../kind.ts"
import { commandChecks, describeChecks } from "./checks.ts"
import { finishCommand } from "./finish.ts"
import { judgeCommand, readWords } from "./judge.ts"
import { draftCommand } from "./plan.ts"
import { commandRecord, viewCommand } from "./record.ts"
import { commandRequest, EXAMPLE, readUsable } from "./request.ts"
import type { CommandPart, CommandRequest } from "./request.ts"
import { workspaceNames } from "./judge-script.ts"

/** One ffmpeg command, or several that run one after the other on the same files. */
export const command = jsonKind({
  name: "command",
  path: "commands",
  title: "command",
  idField: "command_id",
  tasks: [commandTask],
  request: commandRequest,
  showsRequest: true,
  example: EXAMPLE,
  readUsable,
  references: ({ input_files }) =>
    Object.entries(input_files).map(([key, reference]) => {
      return { key, field: `input_files.${key}`, reference }
    }),
  inputField: (key) => `input_files.${key}`,
  judge: judgeCommand,
  preview: {
    schema: z.object({ commands: z.array(z.array(z.string())), checks: commandChecks }),
    show: (request, inputs, facts) => ({
      commands: readArguments(request, inputs),
      checks: describeChecks(inputs, facts),
    }),
  },
  plan: planCommand,
  finish: finishCommand,
  record: commandRecord,
  view: (base, { job }, progress) => viewCommand(base, job, progress),
})

function planCommand(request: CommandRequest, facts: PlanFacts): JobDraft {
  const outputs = Object.entries(request.output_files).map(([key, name]) => ({ key, name }))
  return draftCommand(facts, { kind: "command", request, commands: readWords(request), outputs })
}

/** Each command with the program's name and with names in the place of keys; `[]` if unreadable. */
function readArguments(request: CommandPart, inputs: FoundInput[]): string[][] {
  const names = new Map([
    ...workspaceNames(Object.keys(request.input_files), inputs),
    ...Object.entries(request.output_files),
  ])
  return readWords(request).map((words) => {
    return words.length > 0 ? ["ffmpeg", ...substitute(words, names)] : []
  })
}
