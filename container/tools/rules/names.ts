import type { ExplainRule } from "./rule.ts"

/** Rules for names that a command gets wrong: encoders, decoders, options, formats. */
export const NAME_RULES: readonly ExplainRule[] = [
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
