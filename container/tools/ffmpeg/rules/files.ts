import { findLastOptionValue } from "../../../../src/ffmpeg/command-line.ts"
import type { ParsedCommand } from "../../../../src/ffmpeg/command-line.ts"
import { toExplainRules } from "./explain-rule.ts"
import type { ExplainRule } from "./explain-rule.ts"

/**
 * Returns the error sentence for an input that cannot be read in its detected format, or in the
 * format that the command names by `-f`.
 */
function describeDamaged(name: string, { files }: ParsedCommand): string {
  const input = files.find(({ kind, word }) => kind === "input" && word === name)
  const format = input ? findLastOptionValue(input, "f") : null
  return format === null
    ? `"${name}" is damaged or no readable media.`
    : `"${name}" cannot be read as ${format}: leave -f ${format} out, unless the file is damaged.`
}

/** Rules that explain failures of ffmpeg because of a file that cannot be opened or decoded. */
export const FILE_EXPLAIN_RULES: readonly ExplainRule[] = toExplainRules("invalid_input", [
  [/Impossible to open '([^']*)'/, (name) => `The list names "${name}", which cannot be opened.`],
  [
    /Unsafe file name '([^']*)'/,
    (name) => `The list names "${name}", which is not a plain file name.`,
  ],
  [
    /Error opening (?:input|output) file (.+?)\.?$/,
    (name) => `There is no file or folder for "${name}".`,
    { next: /^Error opening (?:input|output) files: No such file/ },
  ],
  [
    /^(?!\[)(?!Error )(.+?): No such file or directory$/,
    (name) => `There is no file or folder for "${name}".`,
  ],
  [
    /Error opening (?:input|output) file (.+?)\.?$/,
    (name) => `"${name}" cannot be opened.`,
    { next: /^Error opening (?:input|output) files: cannot be opened/ },
  ],
  [/^(?!\[)(?!Error )(.+?): cannot be opened$/, (name) => `"${name}" cannot be opened.`],
  [
    /Error opening input file (.+?)\.?$/,
    (name, _, __, command) => describeDamaged(name, command),
    { next: /^Error opening input files: Invalid data found/ },
  ],
  [
    /^(?!\[)(?!Error )(.+?): Invalid data found when processing input$/,
    (name, _, __, command) => describeDamaged(name, command),
  ],
  [/Invalid data found when processing input/, () => "An input is damaged and cannot be decoded."],
])
