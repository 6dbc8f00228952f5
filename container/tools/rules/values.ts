import type { ExplainRule } from "./rule.ts"

/** Rules for the values of options. */
export const VALUE_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_option",
    pattern:
      /filename '([^']*)' does not contain an image sequence pattern|from pattern '([^']*)'. Use '-frames:v 1'/,
    sentence: (first, second) =>
      `"${first || second}" is one name for several pictures: write %03d in it, or -frames:v 1.`,
  },
  {
    code: "invalid_option",
    pattern: /Invalid loglevel "([^"]*)"/,
    sentence: (value) => `The option "-loglevel" does not take "${value}".`,
  },
  {
    code: "invalid_option",
    pattern: /Error setting option (\S+) to value (.*?)\.?$/,
    sentence: (option, value) => `The option "-${option}" does not take "${value}".`,
  },
  {
    code: "invalid_option",
    pattern: /Unable to parse "([^"]*)" option value "([^"]*)"/,
    sentence: (option, value) => `The option "-${option}" does not take "${value}".`,
  },
  {
    code: "invalid_option",
    pattern: /Invalid duration (?:specification )?for (?:option )?(\S+): (.+?)\.?$/,
    sentence: (option, value) => `The option "-${option}" does not take "${value}".`,
  },
  {
    code: "invalid_option",
    pattern: /Invalid frame size: (.+?)\.?$/,
    sentence: (value) => `"${value}" is not a frame size.`,
  },
  {
    code: "invalid_option",
    pattern: /Invalid framerate value: (.+?)\.?$/,
    sentence: (value) => `"${value}" is not a frame rate.`,
  },
  {
    code: "invalid_option",
    pattern: /Unknown pixel format requested: (.+?)\.?$/,
    sentence: (name) => `There is no pixel format "${name}".`,
  },
  {
    code: "invalid_option",
    pattern:
      /Specified (sample rate|sample format|pixel format|channel layout) (.+?) is not supported by the (\w+) encoder/,
    sentence: (what, value, encoder) =>
      `The encoder ${encoder} does not take the ${what} ${value}.`,
  },
  {
    code: "invalid_option",
    pattern: /invalid preset '([^']*)'/,
    sentence: (value) => `The option "-preset" does not take "${value}".`,
  },
  {
    code: "invalid_option",
    pattern: /Failed to set value '([^']*)' for option '([^']*)'/,
    sentence: (value, option) => `The option "-${option}" does not take "${value}".`,
  },
  {
    code: "invalid_option",
    pattern: /^\[(\w+)\] (?:width|height) not divisible by 2 \((\d+x\d+)\)/,
    sentence: (encoder, size) =>
      `The encoder ${encoder} takes even widths and heights alone, and these are ${size}: write even numbers, or -2 for a side that is to follow the other, as scale=640:-2.`,
  },
  {
    code: "invalid_option",
    pattern:
      /x265 \[error\]: Picture (width|height) must be an integer multiple of the specified chroma/,
    sentence: (side) =>
      `The encoder libx265 takes even widths and heights alone, and the ${side} is odd: write even numbers, or -2 for a side that is to follow the other, as scale=640:-2.`,
  },
  {
    code: "invalid_option",
    pattern: /^\[(\w+)\] (.+?)\.?$/,
    next: /Could not write header/,
    sentence: (format, why) => `The output format ${format} cannot hold these streams: ${why}.`,
  },
  {
    code: "invalid_option",
    pattern: /^\[(\w+)\] (.+?)\.?$/,
    next: /Error while opening encoder/,
    isVague: true,
    sentence: (encoder, why) => `The encoder ${encoder} cannot work so: ${why}.`,
  },
  {
    code: "invalid_option",
    pattern: /Error while opening encoder/,
    isVague: true,
    sentence: () => "An encoder cannot work with the options and frames that it was given.",
  },
  {
    code: "invalid_option",
    pattern: /Error splitting the argument list: (.+?)\.?$/,
    sentence: (why) => `The command cannot be read: ${why}.`,
  },
  {
    code: "invalid_option",
    pattern: /Error parsing options for (input|output) file (.+?)\.?$/,
    sentence: (side, name) => `The options of the ${side} "${name}" are not valid.`,
  },
]
