import type { ReadLine } from "./lines.ts"
import type { Terms } from "./policy/terms.ts"

/** What a request for commands says, whatever its form: its files by key, and its lines. */
export type Script = {
  inputKeys: readonly string[]
  outputs: readonly ScriptOutput[]
  lines: readonly ReadLine[]
  terms: Terms
}

/** An output to come, and the field that gives it its name. */
export type ScriptOutput = { key: string; name: string; field: string }

/** The names that keys have in the workspace; inputs of `guessed` may have another extension. */
export type KeyNames = {
  inputs: ReadonlyMap<string, string>
  guessed: ReadonlySet<string>
  outputs: ReadonlyMap<string, string>
}
