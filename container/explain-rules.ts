import type { ExplainRule } from "./explain-rule.ts"
import { UNREAD_RULES } from "./explain-unread.ts"
import { VALUES } from "./explain-value-rules.ts"

const FILTER_LENGTH_MAX = 60

/** Rules on what a command names; they hold for ffmpeg 5 to 8, whose words differ. */
const NAMES: ExplainRule[] = [
  {
    code: "encoder_not_found",
    pattern: /Unknown encoder '([^']*)'/,
    sentence: (name) => `There is no encoder "${name}".`,
  },
  {
    code: "encoder_not_found",
    pattern: /Automatic encoder selection failed.*?format (\S+) \(codec (\S+)\)/i,
    sentence: (format, codec) => `There is no encoder for ${codec}, which ${format} files use.`,
  },
  {
    code: "decoder_not_found",
    pattern: /Unknown decoder '([^']*)'/,
    sentence: (name) => `There is no decoder "${name}".`,
  },
  {
    code: "decoder_not_found",
    pattern: /(?:Decoder|Decoding requested, but no decoder) (?:\(codec (\S+?)\) )?not found/,
    sentence: (name) => `There is no decoder for this input${name && ` (${name})`}.`,
  },
  {
    code: "invalid_option",
    pattern: /Unrecognized option '([^']*)'/,
    sentence: (name) => `There is no option "-${name}".`,
  },
  {
    code: "invalid_option",
    pattern: /Missing argument for option '([^']*)'/,
    sentence: (name) => `The option "-${name}" has no value.`,
  },
  {
    code: "invalid_option",
    pattern: /Option (\S+) \(.*\) cannot be applied to (input|output) url (.+?) --/,
    sentence: (name, side, file) => `The option "-${name}" does not go with the ${side} "${file}".`,
  },
  {
    code: "invalid_option",
    pattern: /Unknown input format: '?([^']*)'?/,
    sentence: (name) => `There is no input format "${name}".`,
  },
  {
    code: "invalid_option",
    pattern: /Requested output format '([^']*)' is not/,
    sentence: (name) => `There is no output format "${name}".`,
  },
  {
    code: "invalid_option",
    pattern: /Unable to (?:find a suitable|choose an) output format for '([^']*)'/,
    sentence: (name) => `The name "${name}" does not say which output format is wanted.`,
  },
  {
    code: "no_output",
    pattern: /At least one output file must be specified/,
    sentence: () => "The command names no output.",
  },
  {
    code: "no_output",
    pattern: /Output file (?:#\d+ )?does not contain any stream/,
    sentence: () => "An output would hold no stream at all.",
  },
]

const STREAMS: ExplainRule[] = [
  {
    code: "stream_not_found",
    pattern: /Stream map '([^']+)' matches no str/,
    sentence: (map) => `The map "${map}" matches no stream of the inputs.`,
  },
  {
    code: "stream_not_found",
    // ffmpeg 7 says the map only in a later line.
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

const FILTERS: ExplainRule[] = [
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

const FILES: ExplainRule[] = [
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

const MACHINE: ExplainRule[] = [
  {
    code: "disk_full",
    blame: "ours",
    pattern: /No space left on device|Disk quota exceeded/,
    sentence: () => "There was no space left on the disk.",
  },
  {
    code: "out_of_memory",
    pattern: /Cannot allocate memory|malloc of size \d+ failed/,
    sentence: () => "The command needs more memory than there is.",
  },
  {
    code: "process_limit",
    pattern: /pthread_create\S* failed|Resource temporarily unavailable/,
    sentence: () => "The command needs more threads than it may have.",
  },
]

/** All rules, in the order in which they are tried: the first that fits explains. */
export const EXPLAIN_RULES: readonly ExplainRule[] = [
  ...MACHINE,
  ...UNREAD_RULES,
  ...NAMES,
  ...STREAMS,
  ...FILTERS,
  ...VALUES,
  ...FILES,
]
