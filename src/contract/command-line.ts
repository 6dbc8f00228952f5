import { parseTime } from "./media-time.ts"

/** Options that stand alone, for a file. */
const FLAGS =
  "an vn sn dn re shortest bitexact accurate_seek find_stream_info copyinkf autorotate autoscale force_fps fix_sub_duration fix_sub_duration_heartbeat display_hflip display_vflip"

/** Options that stand alone, for the whole command. */
export const GLOBAL_FLAGS =
  "y n stats hide_banner stdin ignore_unknown copy_unknown recast_media benchmark benchmark_all dump hex copyts start_at_zero xerror auto_conversion_filters debug_ts psnr qphist print_graphs report vstats"

/** Options that stand alone and print something. */
export const PRINTING_FLAGS =
  "h ? help -help L license version buildconf formats muxers demuxers devices codecs decoders encoders bsfs protocols filters pix_fmts layouts sample_fmts dispositions colors sources sinks hwaccels"

const STANDING_ALONE = new Set(`${FLAGS} ${GLOBAL_FLAGS} ${PRINTING_FLAGS}`.split(" "))

const TEXT_NAME =
  /\.(?:srt|vtt|ass|ssa|sub|lrc|ttml|scc|txt|log|csv|json|xml|ini|md5|framemd5|sha256|crc|hash|ffmeta|ffmetadata|trf|key)$/i

/** An option as it stands in a command: its word, its name, and its value if it takes one. */
export type ReadOption = { word: string; name: string; value: string | null }

/** A file of a command, with the options that stand before it. */
export type ReadFile = {
  kind: "input" | "output" | "decoder"
  word: string
  options: ReadOption[]
}

/** A command as ffmpeg splits it: files in order, what follows the last, what lacks a value. */
export type ReadCommand = { files: ReadFile[]; trailing: ReadOption[]; lacking: string | null }

/** All options of a command, whatever they stand before. */
export function allOptions({ files, trailing }: ReadCommand): ReadOption[] {
  return [...files.flatMap(({ options }) => options), ...trailing]
}

/** The values of the maps of an output. */
export function mapsOf({ options }: Pick<ReadFile, "options">): string[] {
  return options.flatMap(({ name, value }) => (name === "map" ? [value ?? ""] : []))
}

const FILE_OF = new Map<string, ReadFile["kind"]>([
  ["-i", "input"],
  ["-dec", "decoder"],
])

/** The value of the last option of this name, which is the one that ffmpeg takes. */
export function lastValue({ options }: ReadFile, name: string): string | null {
  return options.findLast((option) => option.name === name)?.value ?? null
}

/** What a file's `-ss`, `-t` and `-to` leave of so many seconds; null where they cannot be read. */
export function secondsLeft(file: ReadFile, seconds: number): number | null {
  const most = lastValue(file, "t")
  const from = parseTime(lastValue(file, "ss") ?? "0")
  const end = parseTime((most === null ? lastValue(file, "to") : null) ?? String(seconds))
  const length = parseTime(most ?? String(seconds))
  if (from === null || end === null || length === null) return null
  return Math.max(0, Math.min(seconds - from, end - from, length))
}

/** Whether a file is one that a command keeps: an output that is not thrown away. */
export function isWritten(file: ReadFile): boolean {
  const isNull = lastValue(file, "f")?.toLowerCase() === "null"
  return file.kind === "output" && file.word !== "/dev/null" && !isNull
}

/** Whether a file of this name is a text: subtitles, figures, hashes, a log. */
export function isTextName(name: string): boolean {
  return TEXT_NAME.test(name)
}

/** Splits words, without the program, into files and their options. */
export function readCommand(words: readonly string[]): ReadCommand {
  const files: ReadFile[] = []
  let options: ReadOption[] = []
  // After a lone "--" the next word is a file, whatever it looks like.
  let isPlain = false
  function finish(kind: ReadFile["kind"], word: string) {
    files.push({ kind, word, options })
    options = []
  }
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ""
    if (word === "--") {
      isPlain = true
      continue
    }
    if (isPlain || !word.startsWith("-") || word === "-") {
      isPlain = false
      finish("output", word)
      continue
    }
    const name = nameOf(word)
    if (takesNothing(name)) {
      options.push({ word, name, value: null })
      continue
    }
    at += 1
    const value = words[at]
    if (value === undefined) return { files, trailing: options, lacking: word }
    const kind = FILE_OF.get(word)
    if (kind === undefined) options.push({ word, name, value })
    else finish(kind, value)
  }
  return { files, trailing: options, lacking: null }
}

/** The name of an option without what says for which streams: `filter` of `-filter:v:0`. */
export function nameOf(word: string): string {
  return word.slice(1).split(":", 1)[0] ?? ""
}

/** Whether an option stands alone; ffmpeg 5 takes a word after it otherwise. */
function takesNothing(name: string): boolean {
  return STANDING_ALONE.has(name) || STANDING_ALONE.has(name.replace(/^no/, ""))
}
