import type { ExplainRule } from "./rule.ts"

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
    sentence: (name) => `"${name}" is damaged, or not a media file that can be read.`,
  },
  {
    code: "invalid_input",
    pattern: /^(?!\[)(?!Error )(.+?): Invalid data found when processing input$/,
    sentence: (name) => `"${name}" is damaged, or not a media file that can be read.`,
  },
  {
    code: "invalid_input",
    pattern: /Invalid data found when processing input/,
    sentence: () => "An input is damaged and cannot be decoded.",
  },
]
