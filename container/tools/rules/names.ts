import type { ReadCommand } from "../../../src/contract/command-line.ts"
import type { ExplainRule } from "./rule.ts"

const BEHIND = "it is for an output: put it behind the inputs, before the output that it is for"
const BEFORE = "it is for an input: put it before the -i of that"

/** Options of some input formats alone, and what to write for an input of another format. */
const INPUT_OPTIONS: Record<string, string> = {
  ignore_loop: "it is for a .gif: leave it out, or write -stream_loop 1 to repeat the input",
  loop: "it is for a picture: write -stream_loop 1 to repeat a film or sound",
  framerate: "it is for pictures: write -r before the output for another rate",
  safe: "it is for lists, behind -f concat: leave it out",
  pixel_format: "it is for raw pictures: write -pix_fmt before the output",
  video_size: "it is for raw pictures: write -s before the output, or -vf scale=640:-2",
  sample_rate: "it is for raw sound: write -ar before the output",
  movflags: BEHIND,
}
/** Options of ffmpeg by the names that formats have for them. */
const OWN_NAMES: Record<string, string> = {
  pixel_format: "pix_fmt",
  video_size: "s",
  sample_rate: "ar",
}

/** The word of an option of this name in a command, as its caller wrote it. */
function wordOf(name: string, { files }: ReadCommand): string {
  const names = [name, OWN_NAMES[name]]
  const options = files.flatMap((file) => file.options)
  return options.find((option) => names.includes(option.name))?.word ?? `-${name}`
}

/** Rules for names that a command gets wrong: encoders, decoders, options, formats. */
export const NAME_RULES: readonly ExplainRule[] = [
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
  {
    code: "invalid_option",
    pattern: /Unrecognized option '([^']*)'/,
    sentence: (name) =>
      `There is no option "-${name}": leave it out, or write the one that is meant.`,
  },
  {
    code: "invalid_option",
    pattern: /Missing argument for option '([^']*)'/,
    sentence: (name) => `The option "-${name}" has no value: write one after it.`,
  },
  {
    code: "invalid_option",
    pattern: /Option (\S+) \(.*\) cannot be applied to (input|output) url (.+?) --/,
    sentence: (name, side, file) =>
      `The option "-${name}" does not go with the ${side} "${file}", since ${side === "input" ? BEHIND : BEFORE}.`,
  },
  {
    code: "invalid_option",
    pattern: /Codec AVOption (\S+) \(.*is not an? (decoding|encoding) option/,
    sentence: (name, side) =>
      `The option "-${name}" does not go there, since ${side === "decoding" ? BEHIND : BEFORE}.`,
  },
  {
    code: "invalid_option",
    pattern: /^Option (\w+) not found\.?$/,
    sentence: (name, _, __, command) =>
      `The input's format has no option "${wordOf(name, command)}": ${INPUT_OPTIONS[name] ?? "put it before the output, or leave it out"}.`,
  },
  {
    code: "invalid_option",
    pattern:
      /(?:Invalid stream specifier: |Trailing garbage at the end of a stream specifier: )(.+?)\.?$/,
    sentence: (specifier) =>
      `"${specifier}" names no streams: write v, a or s with a number if need be, as -map 0:a:1, -c:v or -metadata:s:a:0.`,
  },
  {
    code: "invalid_option",
    pattern: /Unknown input format: '?([^']*)'?/,
    sentence: (name) =>
      `There is no input format "${name}": leave the -f out, since ffmpeg finds the format.`,
  },
  {
    code: "invalid_option",
    pattern: /Requested output format '([^']*)' is not/,
    sentence: (name) =>
      `There is no output format "${name}": write one, as mp4, matroska or hls, or leave the -f out.`,
  },
  {
    code: "invalid_option",
    pattern: /Unable to (?:find a suitable|choose an) output format for '([^']*)'/,
    sentence: (name) =>
      `The name "${name}" does not say which output format is wanted: give it an extension, as .mp4, or write -f before it.`,
  },
  {
    code: "no_output",
    pattern: /At least one output file must be specified/,
    sentence: () => "The command names no output: end it with one, as {{out_1}}.",
  },
]
