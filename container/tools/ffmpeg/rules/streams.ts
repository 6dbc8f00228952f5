import type { ParsedCommand } from "../../../../src/ffmpeg/command-line.ts"
import { adviseOptionValue } from "./value-advice.ts"
import { toExplainRules } from "./explain-rule.ts"
import type { ExplainRule } from "./explain-rule.ts"

/**
 * Patterns of file extensions that allow only one kind of stream, such as audio, each with the word
 * for that kind in error sentences.
 */
const MEDIA_BY_EXTENSION: readonly (readonly [name: RegExp, what: string])[] = [
  [/\.(?:mp3|wav|flac|m4a|aac|ogg|oga|opus|wma|aiff?|ac3)$/i, "sound"],
  [/\.(?:png|jpe?g|gif|webp|bmp|tiff?|avif)$/i, "pictures"],
  [/\.(?:srt|vtt|ass|ssa)$/i, "subtitles"],
]

/**
 * Explains why an output would have no streams, with advice. `number` is the index of the output;
 * an empty text means the first output.
 */
function explainMissingStreams(number: string, { files }: ParsedCommand): string {
  const outputs = files.filter(({ kind }) => kind === "output")
  const output = outputs[Number(number)] ?? outputs[0]
  if (!output) return "take an input that has more"
  const { word } = output
  const left = output.options.filter(({ name }) => /^[vas]n$/.test(name))
  if (left.length > 0) {
    const words = left.map((option) => option.word).join(" and ")
    return `no stream of the inputs is left for "${word}" by ${words}: leave ${left.length > 1 ? "one of them" : "it"} out, or take an input that has more`
  }
  const medium = MEDIA_BY_EXTENSION.find(([name]) => name.test(word))?.[1]
  if (medium !== undefined) {
    return `"${word}" is to hold ${medium}, and no input has any: take an input that does, or write another format, as .mp4 or .png for pictures, .mp3 for sound, .srt for subtitles`
  }
  return `"${word}" takes none of what the inputs have by itself: take an input that has more, or for subtitles alone write -c:s mov_text`
}

const MAP_ADVICE = "map one that there is, or end the map with ? where it may be missing"

/**
 * Rules that explain failures because a `-map` option or a filter refers to a missing stream, or
 * because an output has no streams.
 */
export const STREAM_EXPLAIN_RULES: readonly ExplainRule[] = [
  {
    code: "stream_not_found",
    pattern: /Stream map '([^']+)' matches no str/,
    sentence: (map) => `The map "${map}" matches no stream of the inputs: ${MAP_ADVICE}.`,
  },
  {
    code: "stream_not_found",
    // Takes the value of `-map` from a later line, since ffmpeg 7 omits the value in this message.
    pattern: /Stream map '' matches no streams/,
    later: /Failed to set value '([^']*)'/,
    sentence: (map) => `The map "${map}" matches no stream of the inputs: ${MAP_ADVICE}.`,
  },
  ...toExplainRules("stream_not_found", [
    [
      /Failed to set value '([^']*)' for option 'map'/,
      (map) => `The map "${map}" names no streams: ${adviseOptionValue("map")}.`,
    ],
    [
      /Invalid input file index: (\d+)/,
      (index) =>
        `A map asks for input ${index}, which the command does not have: inputs count from 0.`,
    ],
    [
      /Invalid file index (\d+) in filtergraph/,
      (index) =>
        `A filter asks for input ${index}, which the command does not have: inputs count from 0.`,
    ],
    [
      /Stream specifier '([^']*)' in filtergraph description (.+) matches no streams/,
      (specifier, graph) =>
        `The filters "${graph}" ask for a stream ("${specifier}") that their input does not have, or that is of another medium than the filter takes: give each filter its own, as [0:v] for pictures and [0:a] for sound, and those of concat in turn, as [0:v][0:a][1:v][1:a].`,
    ],
    [
      /Stream specifier '([^']*)'.*matches no streams/,
      (specifier) =>
        `The stream "${specifier}" that a filter asks for is in no input: take one that there is.`,
    ],
    [
      /Output with label '([^']*)' does not exist/,
      (label, _, __, { files }) => {
        const maps = files.flatMap(({ options }) => options).filter(({ name }) => name === "map")
        return maps.filter(({ value }) => value === `[${label}]`).length > 1
          ? `"[${label}]" is mapped twice, and a filter's output goes to one place: make two of it by split or asplit.`
          : `A map asks for "[${label}]", which no filter makes: label the output of a filter so.`
      },
    ],
    [
      /Cannot find an? (?:matching|unused) .* (?:Parsed_)?([a-z0-9]{1,60}?)(?:_\d{1,9})?(?::default)?[.:\s]{0,9}$/,
      (filter) =>
        `The filter "${filter}" has an input that no stream goes to: an input without a label takes a stream of its medium that nothing else takes, so label what it is to take, as [0:v], or take another input by -i.`,
    ],
  ]),
  {
    code: "no_output",
    pattern: /Output file (?:#(\d+) )?does not contain any stream/,
    sentence: (number, _, __, command) =>
      `An output would have no stream: ${explainMissingStreams(number, command)}.`,
  },
]
