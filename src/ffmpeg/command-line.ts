import { parseTime } from "./media-time.ts"

/** ffmpeg options of a single file that take no value. */
const FLAGS =
  "an vn sn dn re shortest bitexact accurate_seek find_stream_info copyinkf autorotate autoscale force_fps fix_sub_duration fix_sub_duration_heartbeat display_hflip display_vflip"

/** Global ffmpeg options that take no value. */
export const GLOBAL_FLAGS =
  "y n stats hide_banner stdin ignore_unknown copy_unknown recast_media benchmark benchmark_all dump hex copyts start_at_zero xerror auto_conversion_filters debug_ts psnr qphist print_graphs report vstats"

/** ffmpeg options that print information and take no value. */
export const PRINTING_FLAGS =
  "h ? help -help L license version buildconf formats muxers demuxers devices codecs decoders encoders bsfs protocols filters pix_fmts layouts sample_fmts dispositions colors sources sinks hwaccels"

const ALL_FLAGS = new Set(`${FLAGS} ${GLOBAL_FLAGS} ${PRINTING_FLAGS}`.split(" "))

const TEXT_NAME =
  /\.(?:srt|vtt|ass|ssa|sub|lrc|ttml|scc|txt|log|csv|json|xml|ini|md5|framemd5|sha256|crc|hash|ffmeta|ffmetadata|trf|key)$/i

/**
 * Option of an ffmpeg command: the word as written, the name without stream specifiers, the value
 * (null for a flag), and the index of the last word in the command.
 */
export type CommandOption = { word: string; name: string; value: string | null; at: number }

/** File of an ffmpeg command: its word, the options before it, and the word's index. */
export type CommandFile = {
  kind: "input" | "output" | "decoder"
  word: string
  options: CommandOption[]
  at: number
}

/**
 * Parsed ffmpeg command: files in order, options after the last file, and the last option if its
 * value is missing.
 */
export type ParsedCommand = {
  files: CommandFile[]
  trailing: CommandOption[]
  incompleteOption: string | null
}

/** Returns all options of a command, of inputs and outputs. */
export function listAllOptions({ files, trailing }: ParsedCommand): CommandOption[] {
  return [...files.flatMap(({ options }) => options), ...trailing]
}

/** Returns the values of the `-map` options of an output. */
export function findMapValues({ options }: Pick<CommandFile, "options">): string[] {
  return options.flatMap(({ name, value }) => (name === "map" ? [value ?? ""] : []))
}

const FILE_KINDS = new Map<string, CommandFile["kind"]>([
  ["-i", "input"],
  ["-dec", "decoder"],
])

/** Returns the value of a file's last option of this name, which ffmpeg uses; null if none. */
export function findLastOptionValue({ options }: CommandFile, name: string): string | null {
  return options.findLast((option) => option.name === name)?.value ?? null
}

/**
 * Returns the seconds of a file that its options `-ss`, `-t` and `-to` keep; null if one of these
 * options cannot be parsed.
 */
export function computeTrimmedSeconds(file: CommandFile, seconds: number): number | null {
  const most = findLastOptionValue(file, "t")
  const from = parseTime(findLastOptionValue(file, "ss") ?? "0")
  const end = parseTime((most === null ? findLastOptionValue(file, "to") : null) ?? String(seconds))
  const length = parseTime(most ?? String(seconds))
  if (from === null || end === null || length === null) return null
  return Math.max(0, Math.min(seconds - from, end - from, length))
}

/** Reports whether a file is an output to keep: not `/dev/null`, `-f null` or standard output. */
export function isKeptOutput(file: CommandFile): boolean {
  const isNull = findLastOptionValue(file, "f")?.toLowerCase() === "null"
  return file.kind === "output" && file.word !== "/dev/null" && !isNull && !isStdout(file.word)
}

/** Reports whether the file name of an output means standard output. */
export function isStdout(word: string): boolean {
  return word === "-" || word === "pipe:" || word === "pipe:1"
}

/** Reports whether a file name has a text's extension: subtitles, statistics, hashes, a log. */
export function isTextFileName(name: string): boolean {
  return TEXT_NAME.test(name)
}

/**
 * Parses the words of an ffmpeg command, without the program's name, into files and their options.
 */
export function readCommand(words: readonly string[]): ParsedCommand {
  const files: CommandFile[] = []
  let options: CommandOption[] = []
  // After a lone "--" the next word is a file, even if it looks like an option.
  let isPlain = false
  function finish(kind: CommandFile["kind"], word: string, at: number) {
    files.push({ kind, word, options, at })
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
      finish("output", word, at)
      continue
    }
    const name = readOptionName(word)
    if (isFlag(name)) {
      options.push({ word, name, value: null, at })
      continue
    }
    at += 1
    const value = words[at]
    if (value === undefined) return { files, trailing: options, incompleteOption: word }
    const kind = FILE_KINDS.get(word)
    if (kind === undefined) options.push({ word, name, value, at })
    else finish(kind, value, at)
  }
  return { files, trailing: options, incompleteOption: null }
}

/** Returns the name of an option without its stream specifier: `filter` for `-filter:v:0`. */
export function readOptionName(word: string): string {
  return word.slice(1).split(":", 1)[0] ?? ""
}

/**
 * Reports whether an ffmpeg option takes no value. A wrong result would hide a file name, because
 * ffmpeg 5 takes the next word as the value.
 */
function isFlag(name: string): boolean {
  return ALL_FLAGS.has(name) || ALL_FLAGS.has(name.replace(/^no/, ""))
}
