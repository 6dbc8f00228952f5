import { findHint, quoteForMessage } from "../../../hints/hint-table.ts"
import type { Hint } from "../../../hints/hint-table.ts"
import { findNearestName } from "../../../hints/nearest-name.ts"
import { BLANK_PLACEHOLDER, joinWordsWithSpaces } from "./line.ts"

/**
 * Hints for command lines that do not begin with `ffmpeg`. `$1` is the text before the word
 * `ffmpeg`.
 */
const LINES: readonly Hint[] = [
  [/^ -/, "write ffmpeg before it"],
  [/^ ffmpeg\uE000/, "leave out the quotes around the whole command"],
  [/^ `/, "leave out the backticks, and write the command alone"],
  [/^ (?:for|while|if|do|function|case) /, "no shell runs here, so send a command for each file"],
  [/^ ffmpeg /i, "write it in lowercase"],
  [/^ (?:\S*[\\/]|[a-z]:\S*)?ffmpeg(?:\.exe|:)? /i, "write ffmpeg alone"],
  [/^ (.+?) (?<!-i )ffmpeg /, "leave out `$1`"],
  [/^ (.+? (?<!-i )(?:\S*[\\/]|[a-z]:\S*)ffmpeg(?:\.exe|:)?) /i, "write ffmpeg instead of `$1`"],
  [/^ ffprobe(?:\.exe)? /i, "GET /v1/files/{id} returns the ffprobe data of a file"],
  [/^ ffplay(?:\.exe)? /i, "this service plays no media"],
  [
    /^ (?:yt-dlp|youtube-dlp?)(?:\.exe)? /i,
    "to download media from a web page, use POST /v1/fetch",
  ],
  [
    /^ (?:curl|wget)(?:\.exe)? /i,
    "to read a URL, put it in input_files and write its key in the command",
  ],
  [/^ (?:faster-)?whisper /i, "to get a transcript, use POST /v1/transcribe"],
  [/^ ffmpeg-normalize /i, "to normalize loudness, use POST /v1/normalize"],
  [/^ (?:avconv|libav) /i, "write ffmpeg instead: its options are the same"],
  [
    /^ (?:convert|magick|mogrify)(?:\.exe)? /i,
    "for an image write `ffmpeg -i {{in_1}} -vf scale=iw/2:-1 {{out_1}}`",
  ],
]

/**
 * Describes the mistake in a command that does not begin with `ffmpeg`. `raws` are the words of the
 * command with their quotes.
 */
export function describeWrongProgram(
  words: readonly string[],
  raws: readonly string[],
  mayOmitProgram: boolean,
): string {
  const begin = mayOmitProgram ? "an option or ffmpeg" : "ffmpeg"
  const program = words[0] ?? ""
  const isNear = findNearestName(program, ["ffmpeg"]) !== null
  const instead =
    findHint(joinWordsWithSpaces(words), LINES)?.replaceAll(BLANK_PLACEHOLDER, " ") ??
    (isNear
      ? "did you mean `ffmpeg`?"
      : "write an ffmpeg command instead, as in `ffmpeg -i {{in_1}} {{out_1}}`")
  return `expected a command that begins with ${begin}, not with ${quoteForMessage(raws[0] ?? program)}; ${instead}`
}
