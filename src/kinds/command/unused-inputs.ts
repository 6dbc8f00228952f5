import type { Warning } from "../../contract/warning.ts"
import { TASK_WARNINGS_MAX } from "../../contract/warning.ts"

/**
 * Words with which a command may read files whose names it does not contain, such as lists, name
 * patterns, folders of fonts, graph files and files with key information.
 */
const READS_UNNAMED =
  / -f concat |%0?\d*d|fontsdir| -\/| -filter(?:_complex)?_script| -hls_key_info_file /i

/**
 * Maximum length of all commands of a request together, in characters. Above this length, the
 * search for unused inputs is omitted.
 */
const TEXT_LENGTH_MAX = 64 * 1024

/**
 * Returns a warning for each input whose key is in no command. Returns no warnings if a command
 * cannot be split into words, may read files that it does not name, or is very long.
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
