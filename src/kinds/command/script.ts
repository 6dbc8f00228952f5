import type { ParsedCommandLine } from "./lines.ts"
import type { Remedies } from "../../ffmpeg/policy/remedies.ts"

/** Commands of a request in any form: keys of inputs, outputs, and command lines. */
export type CommandScript = {
  inputKeys: readonly string[]
  outputs: readonly ScriptOutput[]
  lines: readonly ParsedCommandLine[]
  remedies: Remedies
}

/** Output of a request: key, file name, and the request field that holds the name. */
export type ScriptOutput = { key: string; name: string; field: string }

/** Workspace names of files by key; inputs in `guessed` may get another extension. */
export type WorkspaceNamesByKey = {
  inputs: ReadonlyMap<string, string>
  guessed: ReadonlySet<string>
  outputs: ReadonlyMap<string, string>
}
