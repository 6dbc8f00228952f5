import type { ParsedCommandLine } from "./lines.ts"
import type { RemedyPhrases } from "../../ffmpeg/policy/remedies.ts"

/**
 * Commands of a request: the keys of inputs, the outputs, and the command lines. Requests of all
 * forms are converted to this type.
 */
export type CommandScript = {
  inputKeys: readonly string[]
  outputs: readonly ScriptOutput[]
  lines: readonly ParsedCommandLine[]
  remedies: RemedyPhrases
}

/**
 * Output of a command request: its key, its file name, and the request field that holds the name.
 */
export type ScriptOutput = { key: string; name: string; field: string }

/**
 * Workspace names of inputs and outputs, by key. `guessed` has the keys of inputs whose extension
 * may change when their import ends.
 */
export type WorkspaceNamesByKey = {
  inputs: ReadonlyMap<string, string>
  guessed: ReadonlySet<string>
  outputs: ReadonlyMap<string, string>
}
