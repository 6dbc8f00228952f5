import type { ExplainRule } from "./rule.ts"

const FILTER_LENGTH_MAX = 60

/** Rules for filters and their options. */
export const FILTER_RULES: readonly ExplainRule[] = [
  {
    code: "filter_error",
    pattern: /No such filter: '([^']*)'/,
    sentence: (name) => `There is no filter "${name}".`,
  },
  {
    code: "filter_error",
    pattern: /No option name near '([^']*)'/,
    later: /Error parsing filterchain '([^']*)/,
    pick: ([values = "", chain = ""]) => {
      const [before = "", after] = chain.split(`=${values}`, 2)
      const name = /[a-z0-9_]+$/.exec(before.slice(-FILTER_LENGTH_MAX))?.[0]
      return after === undefined || name === undefined ? null : [values, name]
    },
    sentence: (values, name) => `There is no filter "${name}", or it does not take "${values}".`,
  },
  {
    code: "filter_error",
    pattern: /Error parsing bitstream filter sequence '([^']*)'/,
    sentence: (name) => `There is no bitstream filter "${name}", or its options are not valid.`,
  },
  {
    code: "filter_error",
    pattern: /Error applying option '([^']*)' to filter '([^']*)': Option not found/,
    sentence: (option, filter) => `The filter "${filter}" has no option "${option}".`,
  },
  {
    code: "filter_error",
    pattern: /^\[(?:Parsed_)?([a-z0-9]+?)(?:_\d+)?\] Option '([^']*)' not found/,
    sentence: (filter, option) => `The filter "${filter}" has no option "${option}".`,
  },
  {
    code: "filter_error",
    pattern: /\[FILE\] Cannot read file '([^']*)'/,
    sentence: (file) =>
      `A filter reads "${file}", and there is no file of this name: give the file as an input and write its key there, as {{in_2}}.`,
  },
  {
    code: "filter_error",
    pattern: /^\[Parsed_([a-z0-9_]+?)_\d+\] (?:Unable to open|Could not open|Failed to open) (.+)$/,
    sentence: (filter, file) => `The filter "${filter}" cannot open "${file}".`,
  },
  {
    code: "filter_error",
    pattern: /^\[Parsed_([a-z0-9_]+?)_\d+\] (.+): (?:No such file or directory|cannot be opened)$/,
    sentence: (filter, file) => `The filter "${filter}" cannot open "${file}".`,
  },
  {
    code: "filter_error",
    pattern: /Error applying option '([^']*)' to filter '([^']*)': (.+)$/,
    sentence: (option, filter, why) => `Option "${option}" of the filter "${filter}": ${why}.`,
  },
  {
    code: "filter_error",
    pattern:
      /^\[Parsed_([a-z0-9_]+?)_\d+\] (.*(?:nvalid|rror|ailed|nable|annot|not |oo large).*?)\.?$/,
    sentence: (filter, why) => `The filter "${filter}" failed: ${why}.`,
  },
  {
    code: "filter_error",
    pattern: /^\[Parsed_([a-z0-9_]+?)_\d+\] (.+?)\.?$/,
    next: /Error initializing filter/,
    sentence: (filter, why) => `The filter "${filter}" failed: ${why}.`,
  },
  {
    code: "filter_error",
    pattern: /Error initializing filter '([^']*)'(?: with args '(.*)')?/,
    sentence: (filter, values) => `The filter "${filter}" does not take "${values}".`,
  },
  {
    code: "filter_error",
    pattern: /Filter '?([a-z0-9_]+)\b.* has (?:an unconnected output|output .{1,60} unconnected)/,
    sentence: (filter) => `The filter "${filter}" has an output that goes nowhere.`,
  },
  {
    code: "invalid_option",
    pattern: /Filtering and streamcopy cannot be used together/,
    sentence: () => "A stream that is copied cannot be filtered: choose an encoder for it.",
  },
  {
    code: "filter_error",
    pattern:
      /Error (?:re)?(?:initializing|configuring|processing|parsing)(?: an?)?(?: simple| complex)? filter|Failed to inject frame into filter network|No output pad can be associated/,
    sentence: () => "The filters of the command cannot be set up.",
  },
]
