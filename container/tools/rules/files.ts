import { lastValue } from "../../../src/contract/command-line.ts"
import type { ReadCommand } from "../../../src/contract/command-line.ts"
import type { ExplainRule } from "./rule.ts"

/** The sentence of an input that cannot be read as what it is, or as what the command says of it. */
function describeDamaged(name: string, { files }: ReadCommand): string {
  const input = files.find(({ kind, word }) => kind === "input" && word === name)
  const format = input ? lastValue(input, "f") : null
  return format === null
    ? `"${name}" is damaged, or not a media file that can be read.`
    : `"${name}" cannot be read as ${format}: leave -f ${format} out, unless the file is damaged.`
}

/** Rules for files that cannot be opened or decoded. */
export const FILE_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_input",
    pattern: /Impossible to open '([^']*)'/,
    sentence: (name) => `The list names "${name}", which cannot be opened.`,
  },
  {
    code: "invalid_input",
    pattern: /Unsafe file name '([^']*)'/,
    sentence: (name) => `The list names "${name}", which is not a plain file name.`,
  },
  {
    code: "invalid_input",
    pattern: /Error opening (?:input|output) file (.+?)\.?$/,
    next: /^Error opening (?:input|output) files: No such file/,
    sentence: (name) => `There is no file or folder for "${name}".`,
  },
  {
    code: "invalid_input",
    pattern: /^(?!\[)(?!Error )(.+?): No such file or directory$/,
    sentence: (name) => `There is no file or folder for "${name}".`,
  },
  {
    code: "invalid_input",
    pattern: /Error opening (?:input|output) file (.+?)\.?$/,
    next: /^Error opening (?:input|output) files: cannot be opened/,
    sentence: (name) => `"${name}" cannot be opened.`,
  },
  {
    code: "invalid_input",
    pattern: /^(?!\[)(?!Error )(.+?): cannot be opened$/,
    sentence: (name) => `"${name}" cannot be opened.`,
  },
  {
    code: "invalid_input",
    pattern: /Error opening input file (.+?)\.?$/,
    next: /^Error opening input files: Invalid data found/,
    sentence: (name, _, __, command) => describeDamaged(name, command),
  },
  {
    code: "invalid_input",
    pattern: /^(?!\[)(?!Error )(.+?): Invalid data found when processing input$/,
    sentence: (name, _, __, command) => describeDamaged(name, command),
  },
  {
    code: "invalid_input",
    pattern: /Invalid data found when processing input/,
    sentence: () => "An input is damaged and cannot be decoded.",
  },
]
