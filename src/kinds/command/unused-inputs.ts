import type { Warning } from "../../contract/warning.ts"
import { TASK_WARNINGS_MAX } from "../../contract/warning.ts"

/**
 * Words with which a command reads files that it does not name: lists, patterns of names, folders,
 * graph files, and key information.
 */
const READS_UNNAMED =
  / -f concat |%0?\d*d|fontsdir| -\/| -filter(?:_complex)?_script| -hls_key_info_file /i

/**
 * Maximum length in characters of all commands of a request together. Longer commands are not
 * searched for keys.
 */
const TEXT_LENGTH_MAX = 64 * 1024

/**
 * Returns a warning for each input whose key is in no command. Returns no warnings if a command has
 * no words, may read files that it does not name, or is very long.
 */
export function findUnusedInputWarnings(
  commands: readonly (readonly string[])[],
  inputs: readonly { key: string; field: string }[],
): Warning[] {
  const text = ` ${commands.flat().join(" ")} `
  const isUnreadable = commands.some(({ length }) => length === 0)
  if (isUnreadable || text.length > TEXT_LENGTH_MAX || READS_UNNAMED.test(text)) return []
  const named = new Set(text.match(/\w+/g))
  return inputs
    .filter(({ key }) => !named.has(key))
    .slice(0, TASK_WARNINGS_MAX)
    .map(({ key, field }) => {
      const message = `${field}: no command names this input. Write {{${key}}} where it goes, or leave the input out.`
      return { code: "unused_input", message }
    })
}
