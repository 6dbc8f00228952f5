import type { ParsedCommand } from "../../../../src/ffmpeg/command-line.ts"
import { toExplainRules } from "./explain-rule.ts"
import type { ExplainRule } from "./explain-rule.ts"

const OUTPUT_OPTION_ADVICE =
  "it is for an output: put it behind the inputs, before the output that it is for"
const INPUT_OPTION_ADVICE = "it is for an input: put it before the -i of that"

/** Advice for options of certain input formats that are used with an input of another format. */
const INPUT_OPTIONS: Record<string, string> = {
  ignore_loop: "it is for a .gif: leave it out, or write -stream_loop 1 to repeat the input",
  loop: "it is for a picture: write -stream_loop 1 to repeat a film or sound",
  framerate: "it is for pictures: write -r before the output for another rate",
  safe: "it is for lists, behind -f concat: leave it out",
  pixel_format: "it is for raw pictures: write -pix_fmt before the output",
  video_size: "it is for raw pictures: write -s before the output, or -vf scale=640:-2",
  sample_rate: "it is for raw sound: write -ar before the output",
  movflags: OUTPUT_OPTION_ADVICE,
}
/**
 * Names of ffmpeg's general options, such as `pix_fmt`, by the names of the options of formats that
 * have the same meaning, such as `pixel_format`.
 */
const OWN_NAMES: Record<string, string> = {
  pixel_format: "pix_fmt",
  video_size: "s",
  sample_rate: "ar",
}

/** Returns an option as the caller has written it in the command. */
function optionAsWritten(name: string, { files }: ParsedCommand): string {
  const names = [name, OWN_NAMES[name]]
  const options = files.flatMap((file) => file.options)
  return options.find((option) => names.includes(option.name))?.word ?? `-${name}`
}

/**
 * Rules that explain failures because of an unknown name in a command: an encoder, a decoder, an
 * option or a format.
 */
export const NAME_EXPLAIN_RULES: readonly ExplainRule[] = [
  {
    code: "encoder_not_found",
    pattern: /Unknown encoder '([^']*)'/,
    sentence: (name) =>
      `There is no encoder "${name}": write one that there is, as libx264, libvpx-vp9, aac or libopus.`,
  },
  {
    code: "encoder_not_found",
    pattern: /Invalid encoder type '([^']*)'/,
    sentence: (name) =>
      `The encoder "${name}" is of one medium, and the output has others: write -c:v ${name} for pictures, or -c:a ${name} for sound.`,
  },
  {
    code: "decoder_not_found",
    pattern: /Unknown decoder '([^']*)'/,
    sentence: (name) =>
      `There is no decoder "${name}": leave it out, since ffmpeg finds the one that the input needs.`,
  },
  {
    code: "decoder_not_found",
    pattern: /(?:Decoder|Decoding requested, but no decoder) (?:\(codec (\S+?)\) )?not found/,
    sentence: (name) => `There is no decoder for this input${name && ` (${name})`}.`,
  },
  ...toExplainRules("invalid_option", [
    [
      /Unrecognized option '([^']*)'/,
      (name) => `There is no option "-${name}": leave it out, or write the one that is meant.`,
    ],
    [
      /Missing argument for option '([^']*)'/,
      (name) => `The option "-${name}" has no value: write one after it.`,
    ],
    [
      /Option (\S+) \(.*\) cannot be applied to (input|output) url (.+?) --/,
      (name, side, file) =>
        `The option "-${name}" does not go with the ${side} "${file}", since ${side === "input" ? OUTPUT_OPTION_ADVICE : INPUT_OPTION_ADVICE}.`,
    ],
    [
      /Codec AVOption (\S+) \(.*is not an? (decoding|encoding) option/,
      (name, side) =>
        `The option "-${name}" does not go there, since ${side === "decoding" ? OUTPUT_OPTION_ADVICE : INPUT_OPTION_ADVICE}.`,
    ],
    [
      /^Option (\w+) not found\.?$/,
      (name, _, __, command) =>
        `The input's format has no option "${optionAsWritten(name, command)}": ${INPUT_OPTIONS[name] ?? "put it before the output, or leave it out"}.`,
    ],
    [
      /(?:Invalid stream specifier: |Trailing garbage at the end of a stream specifier: )(.+?)\.?$/,
      (specifier) =>
        `"${specifier}" names no streams: write v, a or s with a number if need be, as -map 0:a:1, -c:v or -metadata:s:a:0.`,
    ],
    [
      /Unknown input format: '?([^']*)'?/,
      (name) =>
        `There is no input format "${name}": leave the -f out, since ffmpeg finds the format.`,
    ],
    [
      /Requested output format '([^']*)' is not/,
      (name) =>
        `There is no output format "${name}": write one, as mp4, matroska or hls, or leave the -f out.`,
    ],
    [
      /Unable to (?:find a suitable|choose an) output format for '([^']*)'/,
      (name) =>
        `The name "${name}" does not say which output format is wanted: give it an extension, as .mp4, or write -f before it.`,
    ],
  ]),
  {
    code: "no_output",
    pattern: /At least one output file must be specified/,
    sentence: () => "The command names no output: end it with one, as {{out_1}}.",
  },
]
