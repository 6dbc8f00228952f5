import type { ParsedCommandLine } from "./lines.ts"
import type { RemedyPhrases } from "../../ffmpeg/policy/remedies.ts"

/**
 * Commands of a request: the keys of inputs, the outputs, and the command lines. Requests to POST
 * /commands and POST /ffmpeg are converted to this type.
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
 * File names of inputs and outputs in the workspace, by key. `guessed` has the keys of inputs that
 * are still to be imported, and whose file extension may therefore change.
 */
export type WorkspaceNamesByKey = {
  inputs: ReadonlyMap<string, string>
  guessed: ReadonlySet<string>
  outputs: ReadonlyMap<string, string>
}
