import { nearestName } from "../../../hints/nearest-name.ts"
import { shown } from "./written.ts"

/** What does here what other programs do, by their names. */
const OTHERS: readonly (readonly [names: string, instead: string])[] = [
  ["ffprobe", "what ffprobe says of a file stands in its record, as GET /v1/files/{id} answers it"],
  ["ffplay", "nothing is played here"],
  ["yt-dlp youtube-dl youtube-dlp", "to bring in what a page shows, use POST /v1/fetch"],
  ["curl wget", "to bring a URL in, give it in input_files and name its key in the command"],
  ["whisper faster-whisper", "to get a transcript, use POST /v1/transcribe"],
  ["ffmpeg-normalize", "to make sounds equally loud, use POST /v1/normalize"],
  ["avconv libav", "write ffmpeg in its place: its options are the same"],
  [
    "convert magick mogrify",
    "for a picture write `ffmpeg -i {{in_1}} -vf scale=iw/2:-1 {{out_1}}`",
  ],
  [
    "sox lame mkvmerge mkvextract mkvtoolnix handbrakecli handbrake mp4box gifsicle gifski mencoder mplayer mpv vlc mediainfo x264 x265 opusenc flac avidemux melt python python3 node bash sh",
    "write what it does as a command of ffmpeg",
  ],
]

const INSTEAD = new Map(
  OTHERS.flatMap(([names, instead]) => names.split(" ").map((name) => [name, instead] as const)),
)

/** ffmpeg by its path, or as Windows calls it. */
const BY_PATH = /^(?:.*[\\/])?ffmpeg(?:\.exe|:)?$|^[a-z]:.*ffmpeg(?:\.exe)?$/i
/** Words of which a shell makes a program of its own. */
const LOOPS = /^(?:for|while|if|do|function|case)$/

/** What to write where a command does not begin with ffmpeg; `raws` are its words as written. */
export function describeProgram(
  words: readonly string[],
  raws: readonly string[],
  mayOmitProgram: boolean,
): string {
  const begin = mayOmitProgram ? "an option or ffmpeg" : "ffmpeg"
  const program = words[0] ?? ""
  const written = shown(raws[0] ?? program)
  const plain = `expected a command that begins with ${begin}, not with ${written}`
  if (program.startsWith("-")) return `${plain}; write ffmpeg before it`
  if (/^ffmpeg\s/.test(program)) {
    return `${plain}; leave out the quotes round the whole command`
  }
  if (program.startsWith("`"))
    return `${plain}; leave out the backticks, and write the command alone`
  if (LOOPS.test(program)) return `${plain}; no shell runs here, so send a command for each file`
  if (program.toLowerCase() === "ffmpeg") return `${plain}; write it in small letters`
  if (BY_PATH.test(program)) return `${plain}; write ffmpeg alone`
  const place = words.findIndex((word) => BY_PATH.test(word))
  if (place > 0 && words[place - 1] !== "-i") {
    return words[place] === "ffmpeg"
      ? `${plain}; leave out ${shown(raws.slice(0, place).join(" "))}`
      : `${plain}; write ffmpeg instead of ${shown(raws.slice(0, place + 1).join(" "))}`
  }
  const instead = INSTEAD.get(program.toLowerCase().replace(/\.exe$/, ""))
  if (instead !== undefined) return `${plain}; ${instead}`
  if (nearestName(program, ["ffmpeg"]) !== null) return `${plain}; did you mean \`ffmpeg\`?`
  return `${plain}; write it as \`ffmpeg -i {{in_1}} {{out_1}}\``
}
