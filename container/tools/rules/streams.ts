import type { ExplainRule } from "./rule.ts"

/** Rules for streams that a map or a filter refers to and that do not exist. */
export const STREAM_RULES: readonly ExplainRule[] = [
  {
    code: "stream_not_found",
    pattern: /Stream map '([^']+)' matches no str/,
    sentence: (map) => `The map "${map}" matches no stream of the inputs.`,
  },
  {
    code: "stream_not_found",
    // ffmpeg 7 prints the map only in a later line.
    pattern: /Stream map '' matches no streams/,
    later: /Failed to set value '([^']*)'/,
    sentence: (map) => `The map "${map}" matches no stream of the inputs.`,
  },
  {
    code: "stream_not_found",
    pattern: /Invalid input file index: (\d+)/,
    sentence: (index) => `A map asks for input ${index}, which the command does not have.`,
  },
  {
    code: "stream_not_found",
    pattern: /Invalid file index (\d+) in filtergraph/,
    sentence: (index) => `A filter asks for input ${index}, which the command does not have.`,
  },
  {
    code: "stream_not_found",
    pattern: /Stream specifier '([^']*)' in filtergraph description (.+) matches no streams/,
    sentence: (specifier, graph) =>
      `The filters "${graph}" ask for a stream ("${specifier}") that their input does not have.`,
  },
  {
    code: "stream_not_found",
    pattern: /Stream specifier '([^']*)'.*matches no streams/,
    sentence: (specifier) => `The stream "${specifier}" that a filter asks for is in no input.`,
  },
  {
    code: "stream_not_found",
    pattern: /Output with label '([^']*)' does not exist/,
    sentence: (label) => `A map asks for "[${label}]", which no filter makes.`,
  },
  {
    code: "stream_not_found",
    pattern:
      /Cannot find an? (?:matching|unused) .* (?:Parsed_)?([a-z0-9]{1,60}?)(?:_\d{1,9})?[.:\s]{0,9}$/,
    sentence: (filter) => `The filter "${filter}" has an input that no stream goes to.`,
  },
]
