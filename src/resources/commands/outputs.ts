import { inputName } from "../../contract/task.ts"
import type { Detail } from "../../http/problem.ts"
import type { CommandRequest } from "./schema.ts"

/** Begins so that it is no option, ends so that it keeps its extension. */
const NAME_PATTERN = /^[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M} ._()+@-]{0,198}[\p{L}\p{N}\p{M}_)])?$/u
const NAME_BYTES_MAX = 240
const BUNDLE_PATTERN = /%|\*|\?|\.(?:m3u8|mpd)$/i

/** What is wrong with the names of outputs and keys; `inputs` are the files' names by key. */
export function checkOutputs(request: CommandRequest, inputs: Map<string, string>): Detail[] {
  const taken = new Set([...inputs].map(([key, name]) => inputName(key, name)))
  return Object.entries(request.output_files).flatMap(([key, name]) => {
    const field = `output_files.${key}`
    if (Object.hasOwn(request.input_files, key)) {
      return [{ field, message: `"${key}" is the key of an input too` }]
    }
    const message = checkName(name, taken)
    taken.add(name)
    return message === null ? [] : [{ field, message }]
  })
}

function checkName(name: string, taken: Set<string>): string | null {
  if (/[/\\]/.test(name)) return "expected a file name without a folder"
  if (BUNDLE_PATTERN.test(name)) return "outputs of several files are not built yet"
  if (!NAME_PATTERN.test(name) || new TextEncoder().encode(name).length > NAME_BYTES_MAX) {
    return "expected a file name of letters, digits, spaces and . _ - ( ) + @ that begins with a letter, a digit or an underscore, up to 200 characters"
  }
  return taken.has(name) ? `another file of this command is called ${name}` : null
}
