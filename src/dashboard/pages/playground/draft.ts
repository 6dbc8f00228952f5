import { FILES_MAX } from "../../../kinds/command/request.ts"
import type { CommandPart } from "../../../kinds/command/request.ts"
import type { Recipe } from "./recipes.ts"

/** A command as its form has it: rows of keys with files and with names, and the text. */
export type Draft = {
  recipe: string
  inputs: { key: string; reference: string }[]
  outputs: { key: string; name: string }[]
  command: string
}

/** Rows of inputs, and of outputs, that a draft may have: as many as a command may have files. */
export const ROWS_MAX = FILES_MAX

/** The draft of a form that was sent; fields that came twice or as files count as rows, or not. */
export function readDraft(form: FormData): Draft {
  const references = textsOf(form, "input_file")
  const names = textsOf(form, "output_name")
  return {
    recipe: textsOf(form, "recipe")[0] ?? "",
    inputs: textsOf(form, "input_key").map((key, at) => {
      return { key: key.trim(), reference: (references[at] ?? "").trim() }
    }),
    outputs: textsOf(form, "output_key").map((key, at) => {
      return { key: key.trim(), name: (names[at] ?? "").trim() }
    }),
    command: (textsOf(form, "command")[0] ?? "").replaceAll("\r\n", "\n"),
  }
}

/** A recipe with the files that were chosen before, in their order. */
export function draftOfRecipe(recipe: Recipe, references: readonly string[]): Draft {
  return {
    recipe: recipe.id,
    inputs: Object.keys(recipe.inputs).map((key, at) => {
      return { key, reference: references[at] ?? "" }
    }),
    outputs: Object.entries(recipe.outputs).map(([key, name]) => ({ key, name })),
    command: recipe.command,
  }
}

/** A request that was made before. */
export function draftOfRequest(request: {
  [Field in keyof CommandPart]?: CommandPart[Field] | undefined
}): Draft {
  const { input_files = {}, output_files = {}, ffmpeg_command, ffmpeg_commands = [] } = request
  // A line that begins otherwise would be read as going on with the one before.
  const lines = ffmpeg_commands.map((line) => (/^\s*ffmpeg\s/.test(line) ? line : `ffmpeg ${line}`))
  return {
    recipe: "",
    inputs: Object.entries(input_files).map(([key, reference]) => ({ key, reference })),
    outputs: Object.entries(output_files).map(([key, name]) => ({ key, name })),
    command: ffmpeg_command ?? lines.join("\n"),
  }
}

/** The body of POST /commands that a draft is; rows that are empty are none. */
export function requestOfDraft(draft: Draft): CommandPart {
  const lines = splitCommands(draft.command)
  const [only = ""] = lines
  return {
    input_files: Object.fromEntries(
      draft.inputs
        .filter(({ key, reference }) => key || reference)
        .map(({ key, reference }) => [key, reference]),
    ),
    output_files: Object.fromEntries(
      draft.outputs.filter(({ key, name }) => key || name).map(({ key, name }) => [key, name]),
    ),
    ...(lines.length > 1 ? { ffmpeg_commands: lines } : { ffmpeg_command: only }),
  }
}

/** The commands of a text: each begins with a line that begins with ffmpeg. */
export function splitCommands(text: string): string[] {
  return text
    .split(/\n(?=[ \t]*ffmpeg\s)/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
}

/** The next key of a kind that no row has: `in_2`. */
export function nextKey(prefix: "in" | "out", rows: readonly { key: string }[]): string {
  for (let number = 1; ; number += 1) {
    const key = `${prefix}_${number}`
    if (!rows.some((row) => row.key === key)) return key
  }
}

function textsOf(form: FormData, name: string): string[] {
  return form.getAll(name).flatMap((value) => (typeof value === "string" ? [value] : []))
}
