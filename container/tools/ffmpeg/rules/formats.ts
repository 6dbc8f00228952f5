import type { ParsedCommand } from "../../../../src/ffmpeg/command-line.ts"
import type { ExplainRule } from "./explain-rule.ts"

/** Returns advice for streams that an output format cannot contain. */
function adviseStreams(why: string, { files }: ParsedCommand): string {
  if (/\bTag \S+ incompatible/.test(why)) return "a tag has 4 letters, as hvc1 or avc1"
  const isCopied = files.some(({ options }) =>
    options.some(({ name, value }) => /^(?:[vas]?codec|c)$/.test(name) && value === "copy"),
  )
  if (isCopied)
    return "leave the copy out, so that an encoder is chosen that fits, or write an .mkv"
  if (/xactly one|more than one stream|single/.test(why)) {
    return "map one stream alone, as -map 0:a:0, mix several by amix, take the format's own encoder, or write an .mkv or .mka"
  }
  if (/[Nn]o audio stream/.test(why)) return "take an input that has sound"
  return "leave the encoder out, so that one is chosen that fits, or write an .mkv"
}

/**
 * Rules that explain failures because of a stream that the output format cannot contain, or an
 * input of a wrong format.
 */
export const FORMAT_EXPLAIN_RULES: readonly ExplainRule[] = [
  {
    code: "invalid_option",
    pattern: /^\[(\w+)\] muxer does not support non seekable output/,
    sentence: (format) =>
      `The format ${format} cannot go to standard output, since its beginning is written last: write to an output.`,
  },
  {
    code: "invalid_option",
    pattern: /^\[(\w+)\] ((?!Error setting option).+?)\.?$/,
    next: /Could not write header/,
    sentence: (format, why, _, command) =>
      `The output format ${format} cannot hold these streams: ${why}; ${adviseStreams(why, command)}.`,
  },
  {
    code: "invalid_option",
    pattern: /Could not write header for output file|^\[out#\d+\/(\w+)\] Could not write header/,
    isVague: true,
    sentence: (format, _, __, command) =>
      `The output format ${format} cannot hold these streams: ${adviseStreams("", command)}.`.replace(
        "  ",
        " ",
      ),
  },
  {
    code: "encoder_not_found",
    pattern: /Automatic encoder selection failed.*?format (\S+) \(codec (\S+)\)/i,
    sentence: (format, codec) =>
      codec === "none"
        ? `The format ${format} takes no streams of this kind by itself: leave them out by -vn, -an or -sn, or name an encoder; for subtitles in .mp4 and .mov write -c:s mov_text.`
        : `There is no encoder for ${codec}, which ${format} files use: write another, as -c:v libx264, -c:a aac or -c:s srt.`,
  },
  {
    code: "invalid_option",
    pattern: /Subtitle encoding currently only possible from text to text or bitmap to bitmap/,
    sentence: () =>
      "The subtitles of the input are pictures, and the format takes text: leave them out by -sn, copy them into an .mkv, or lay them over the film by overlay.",
  },
  {
    code: "invalid_input",
    pattern: /^\[concat\] Line \d+: unknown keyword/,
    sentence: () =>
      "An input of -f concat is no list: give a text that lists files, as file 'in_1.mp4' in each line, or leave -f concat out.",
  },
]
