import { z } from "zod"
import type { Api } from "../../api.ts"
import { requestOfDraft } from "./draft.ts"
import type { Draft } from "./draft.ts"

/** What is wrong with a draft, by the rows and fields of its form, and what it would run. */
export type Check = {
  isValid: boolean
  commands: string[][]
  inputs: (string | undefined)[]
  outputs: (string | undefined)[]
  command: string[]
  /** What is wrong beside these. */
  others: string[]
}

const validation = z.object({
  valid: z.boolean(),
  commands: z.array(z.array(z.string())),
  errors: z.array(z.object({ field: z.string(), message: z.string() })),
})

type Faults = { field: string; message: string }[]

/** What the API says of a draft before it is run. */
export async function checkDraft(api: Api, draft: Draft): Promise<Check> {
  const answer = await api("/commands/validate", validation, {
    method: "POST",
    json: requestOfDraft(draft),
  })
  if (!answer.ok) return placeFaults(draft, [{ field: "", message: answer.message }], [])
  return placeFaults(draft, answer.value.errors, answer.value.commands)
}

/** The faults of a request at the places of the form that it came from. */
export function placeFaults(draft: Draft, told: Faults, commands: string[][]): Check {
  const faults = [
    ...twice("input_files", draft.inputs),
    ...twice("output_files", draft.outputs),
    ...told,
  ]
  const inputs = draft.inputs.map(({ key, reference }) => {
    const fault = messageAt(faults, `input_files.${key}`)
    return fault !== undefined && reference === "" ? "choose a file, or give a URL" : fault
  })
  const outputs = draft.outputs.map(({ key }) => messageAt(faults, `output_files.${key}`))
  const command = faults.filter(({ field }) => field.startsWith("ffmpeg_command"))
  const rows = new Set([
    ...draft.inputs.map(({ key }) => `input_files.${key}`),
    ...draft.outputs.map(({ key }) => `output_files.${key}`),
  ])
  const others = faults.filter((fault) => !rows.has(fault.field) && !command.includes(fault))
  return {
    isValid: faults.length === 0,
    commands: commands.filter((words) => words.length > 0),
    inputs,
    outputs,
    command: unique(command.map(({ field, message }) => sayLine(field, message))),
    others: unique(others.map(({ field, message }) => (field ? `${field}: ${message}` : message))),
  }
}

function sayLine(field: string, message: string): string {
  const line = /^ffmpeg_commands\.(\d+)$/.exec(field)?.[1]
  return line === undefined ? message : `command ${Number(line) + 1}: ${message}`
}

function messageAt(faults: Faults, field: string): string | undefined {
  return faults.find((fault) => fault.field === field)?.message
}

/** Keys that stand in two rows, of which a request has but the last. */
function twice(root: string, rows: readonly { key: string }[]): Faults {
  const seen = new Set<string>()
  const again = new Set<string>()
  for (const { key } of rows) {
    if (key !== "" && seen.has(key)) again.add(key)
    seen.add(key)
  }
  return [...again].map((key) => ({ field: `${root}.${key}`, message: "this key stands twice" }))
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)]
}
