import { z } from "zod"
import { OUTPUTS_MAX, outputReport } from "../report.ts"
import { taskOutput, taskWarnings } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

/** Runs ffmpeg commands one after the other, in one workspace. */
export const commandTask = {
  name: "command",
  pool: () => "media",
  tools: ["ffmpeg", "ffprobe"],
  work: z.object({
    kind: z.literal("command"),
    /** The words of each command without the program, keys not yet replaced by names. */
    commands: z.array(z.array(z.string()).min(1)).min(1),
    /** None where the commands are run for what ffmpeg says alone. */
    outputs: z.array(taskOutput),
    run_seconds_max: z.int().positive(),
  }),
  result: z.object({
    kind: z.literal("command"),
    outputs: z.array(outputReport).max(OUTPUTS_MAX),
    warnings: taskWarnings,
  }),
} as const satisfies TaskDefinition

export type CommandWork = z.infer<typeof commandTask.work>
export type CommandResult = z.infer<typeof commandTask.result>

/** The name that a key has in the workspace, looked up by key; a Map of strings is one. */
export type Names = { get(key: string): string | undefined }

export const PLACEHOLDER = /\\?\{\\?\{([^{}\\]{1,80})\\?\}\\?\}/g
const OPTION_VALUE = /(?<==)('?)([A-Za-z0-9_]+)\1(?=$|[:,;[\]])/g
const FILTER_OPTION = /^-(?:vf|af|lavfi|filter_complex|filter(?::.*)?)$/

/**
 * Puts names in the place of keys: `{{key}}` and `\{\{key\}\}` anywhere, a bare key where it is a
 * whole word or a whole option value of a filter argument. A placeholder without a name stays.
 */
export function substitute(words: readonly string[], names: Names): string[] {
  return words.map((word, index) => {
    const bare = names.get(word)
    if (bare !== undefined) return bare
    const value = isFilterArgument(words, index)
      ? word.replace(OPTION_VALUE, (whole, quote: string, key: string) => {
          const name = names.get(key)
          return name === undefined ? whole : quote + name + quote
        })
      : word
    return value.replace(PLACEHOLDER, (whole, key: string) => names.get(key) ?? whole)
  })
}

/** Whether a word is the graph of an option, or of a source that lavfi makes. */
export function isFilterArgument(words: readonly string[], index: number): boolean {
  const option = words[index - 1]
  if (option === undefined) return false
  if (FILTER_OPTION.test(option)) return true
  if (option !== "-i") return false
  const format = words.lastIndexOf("-f", index)
  return (
    format >= 0 && words[format + 1] === "lavfi" && !words.slice(format, index - 1).includes("-i")
  )
}
