import { hasKeyShape } from "../../contract/api-key.ts"
import { isFinal } from "../../contract/state.ts"
import { inputName } from "../../contract/task.ts"
import { readReference } from "../../http/reference.ts"
import { newId } from "../../ids.ts"
import type { JobDraft } from "../../storage/jobs.ts"
import { makeFileToCome, makeJob, makeTask } from "../../storage/rows.ts"
import type { JobFacts } from "../../storage/rows.ts"
import type { File } from "../../storage/schema.ts"
import type { CommandDetail } from "./error-codes.ts"
import { readCommands } from "./lines.ts"
import { checkOutputs } from "./outputs.ts"
import type { CommandRequest } from "./schema.ts"

/** The files that a request's inputs name, by key, and what is wrong with the references. */
export function readInputs(inputFiles: Record<string, string>, origin: string) {
  const details: CommandDetail[] = []
  const inputs: { key: string; fileId: string }[] = []
  for (const [key, text] of Object.entries(inputFiles)) {
    const reference = readReference(text, origin)
    if ("fileId" in reference) inputs.push({ key, fileId: reference.fileId })
    else {
      const field = `input_files.${key}`
      details.push({ field, code: reference.code ?? "invalid_reference", message: reference.error })
    }
  }
  return { inputs, details }
}

/** What of a request says what its command does. */
export type CommandPart = Pick<
  CommandRequest,
  "ffmpeg_command" | "ffmpeg_commands" | "input_files" | "output_files"
>

/** The files that a command is to have: those it names, and those of them that the account has. */
export type CommandInputs = { inputs: { key: string; fileId: string }[]; found: File[] }

/** The words of a request's commands, and all that is wrong with what they do. */
export function judgeCommand(
  request: CommandPart,
  { inputs, found }: CommandInputs,
): { commands: string[][]; details: CommandDetail[] } {
  const files = new Map(found.map((file) => [file.id, file]))
  const names = fileNamesByKey({ inputs, found })
  const misnamed = checkOutputs(request, names)
  const { commands, details } = readCommands(request, {
    inputs: workspaceNames(request.input_files, names),
    outputs: usableNames(request, misnamed),
  })
  return { commands, details: [...unusableInputs(inputs, files), ...misnamed, ...details] }
}

/** The names of the account's own files by key; empty where it has none such. */
export function fileNamesByKey({ inputs, found }: CommandInputs): Map<string, string> {
  const nameOf = new Map(found.map(({ id, name }) => [id, name]))
  return new Map(inputs.map(({ key, fileId }) => [key, nameOf.get(fileId) ?? ""]))
}

/** The names of inputs in the workspace by key; `names` are those of the files, where known. */
export function workspaceNames(
  inputFiles: Record<string, unknown>,
  names: ReadonlyMap<string, string>,
): Map<string, string> {
  return new Map(
    Object.keys(inputFiles).map((key) => [key, inputName(key, names.get(key) ?? "")] as const),
  )
}

/** Names of outputs by key; one that is refused already is not judged a second time in commands. */
function usableNames(
  { output_files }: CommandPart,
  misnamed: CommandDetail[],
): Map<string, string> {
  const refused = new Set(misnamed.map(({ field }) => field))
  return new Map(
    Object.entries(output_files).map(([key, name]) => [
      key,
      refused.has(`output_files.${key}`) ? key : name,
    ]),
  )
}

function unusableInputs(
  inputs: CommandInputs["inputs"],
  files: Map<string, File>,
): CommandDetail[] {
  return inputs.flatMap(({ key, fileId }): CommandDetail[] => {
    const field = `input_files.${key}`
    const file = files.get(fileId)
    if (!file) return [{ field, code: "no_such_file", message: "there is no such file" }]
    if (file.bundle === null) return []
    const message = `"${file.name}" is a series of files, and a command takes single ones: download the one you need and upload it with POST /files`
    return [{ field, code: "series_as_input", message }]
  })
}

export type CommandFacts = JobFacts &
  CommandInputs & { commands: string[][]; runSecondsMax: number }

/** The job of a command that nothing is wrong with: one task, and a file to come for each output. */
export function draftOfCommand(request: CommandRequest, facts: CommandFacts): JobDraft {
  const id = newId()
  const { commands, runSecondsMax } = facts
  const outputs = Object.entries(request.output_files).map(([key, name]) => ({ key, name }))
  const { metadata: _, priority: __, webhook: ___, ...original } = request
  return {
    job: makeJob(facts, { id, kind: "command", request: withoutKeys(original) }),
    tasks: [
      makeTask(facts, {
        jobId: id,
        work: { kind: "command", commands, outputs, run_seconds_max: runSecondsMax },
        inputs: facts.inputs,
        blocked: facts.found.some((file) => !isFinal(file.state)),
      }),
    ],
    files: outputs.map(({ key, name }) =>
      makeFileToCome(facts, { jobId: id, outputKey: key, name }),
    ),
  }
}

/** A request as it may be kept and shown again: an API key in it, as in `?key=`, is taken out. */
function withoutKeys(request: unknown): unknown {
  const text = JSON.stringify(request)
  return JSON.parse(
    text.replace(/lathe_[0-9A-Za-z]{40}/g, (key) => (hasKeyShape(key) ? "lathe_redacted" : key)),
  )
}
