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
      details.push({ field, code: "invalid_reference", message: reference.error })
    }
  }
  return { inputs, details }
}

export type CommandFacts = JobFacts & {
  inputs: { key: string; fileId: string }[]
  /** Those of the named files that the account has. */
  found: File[]
  runSecondsMax: number
}

/** The job of a command: one task, and a file to come for each output; or all that is wrong. */
export function draftOfCommand(
  request: CommandRequest,
  facts: CommandFacts,
): { draft: JobDraft } | { details: CommandDetail[] } {
  const files = new Map(facts.found.map((file) => [file.id, file]))
  const names = new Map(facts.inputs.map(({ key, fileId }) => [key, files.get(fileId)?.name ?? ""]))
  const misnamed = checkOutputs(request, names)
  const { commands, details } = readCommands(request, {
    inputs: workspaceNames(request.input_files, names),
    outputs: usableNames(request, misnamed),
  })
  const wrong = [...unusableInputs(facts, files), ...misnamed, ...details]
  if (wrong.length > 0) return { details: wrong }
  return { draft: draft(request, facts, commands) }
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
  { output_files }: CommandRequest,
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

function unusableInputs(facts: CommandFacts, files: Map<string, File>): CommandDetail[] {
  return facts.inputs.flatMap(({ key, fileId }): CommandDetail[] => {
    const field = `input_files.${key}`
    const file = files.get(fileId)
    if (!file) return [{ field, code: "no_such_file", message: "there is no such file" }]
    if (file.bundle === null) return []
    const message = `"${file.name}" is a series of files, and a command takes single ones: download the one you need and upload it with POST /files`
    return [{ field, code: "series_as_input", message }]
  })
}

function draft(request: CommandRequest, facts: CommandFacts, commands: string[][]): JobDraft {
  const id = newId()
  const outputs = Object.entries(request.output_files).map(([key, name]) => ({ key, name }))
  const { metadata: _, priority: __, webhook: ___, ...original } = request
  return {
    job: makeJob(facts, { id, kind: "command", request: withoutKeys(original) }),
    tasks: [
      makeTask(facts, {
        jobId: id,
        work: { kind: "command", commands, outputs, run_seconds_max: facts.runSecondsMax },
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
