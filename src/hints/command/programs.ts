import { findHint, shown } from "../hint-table.ts"
import type { Hint } from "../hint-table.ts"
import { nearestName } from "../nearest-name.ts"
import { BLANK, lineOf } from "./line.ts"

/** Lines that do not begin with ffmpeg; `$1` is what stands before it. */
const LINES: readonly Hint[] = [
  [/^ -/, "write ffmpeg before it"],
  [/^ ffmpeg\uE000/, "leave out the quotes round the whole command"],
  [/^ `/, "leave out the backticks, and write the command alone"],
  [/^ (?:for|while|if|do|function|case) /, "no shell runs here, so send a command for each file"],
  [/^ ffmpeg /i, "write it in small letters"],
  [/^ (?:\S*[\\/]|[a-z]:\S*)?ffmpeg(?:\.exe|:)? /i, "write ffmpeg alone"],
  [/^ (.+?) (?<!-i )ffmpeg /, "leave out `$1`"],
  [/^ (.+? (?<!-i )(?:\S*[\\/]|[a-z]:\S*)ffmpeg(?:\.exe|:)?) /i, "write ffmpeg instead of `$1`"],
  [
    /^ ffprobe(?:\.exe)? /i,
    "what ffprobe says of a file stands in its record, as GET /v1/files/{id} answers it",
  ],
  [/^ ffplay(?:\.exe)? /i, "nothing is played here"],
  [/^ (?:yt-dlp|youtube-dlp?)(?:\.exe)? /i, "to bring in what a page shows, use POST /v1/fetch"],
  [
    /^ (?:curl|wget)(?:\.exe)? /i,
    "to bring a URL in, give it in input_files and name its key in the command",
  ],
  [/^ (?:faster-)?whisper /i, "to get a transcript, use POST /v1/transcribe"],
  [/^ ffmpeg-normalize /i, "to make sounds equally loud, use POST /v1/normalize"],
  [/^ (?:avconv|libav) /i, "write ffmpeg in its place: its options are the same"],
  [
    /^ (?:convert|magick|mogrify)(?:\.exe)? /i,
    "for a picture write `ffmpeg -i {{in_1}} -vf scale=iw/2:-1 {{out_1}}`",
  ],
]

/** The sentence for a command that does not begin with ffmpeg; `raws` are its words as written. */
export function describeProgram(
  words: readonly string[],
  raws: readonly string[],
  mayOmitProgram: boolean,
): string {
  const begin = mayOmitProgram ? "an option or ffmpeg" : "ffmpeg"
  const program = words[0] ?? ""
  const isNear = nearestName(program, ["ffmpeg"]) !== null
  const instead =
    findHint(lineOf(words), LINES)?.replaceAll(BLANK, " ") ??
    (isNear
      ? "did you mean `ffmpeg`?"
      : "write what it does as a command of ffmpeg, as `ffmpeg -i {{in_1}} {{out_1}}`")
  return `expected a command that begins with ${begin}, not with ${shown(raws[0] ?? program)}; ${instead}`
}
