import { parseFfmpegTime } from "./media-time.ts"

/** Options of ffmpeg that apply to a single file and take no value. */
const FLAGS =
  "an vn sn dn re shortest bitexact accurate_seek find_stream_info copyinkf autorotate autoscale force_fps fix_sub_duration fix_sub_duration_heartbeat display_hflip display_vflip"

/** Global options of ffmpeg that take no value. */
export const GLOBAL_FLAGS =
  "y n stats hide_banner stdin ignore_unknown copy_unknown recast_media benchmark benchmark_all dump hex copyts start_at_zero xerror auto_conversion_filters debug_ts psnr qphist print_graphs report vstats"

/** Options of ffmpeg that print information and take no value, such as `-version`. */
export const PRINTING_FLAGS =
  "h ? help -help L license version buildconf formats muxers demuxers devices codecs decoders encoders bsfs protocols filters pix_fmts layouts sample_fmts dispositions colors sources sinks hwaccels"

const ALL_FLAGS = new Set(`${FLAGS} ${GLOBAL_FLAGS} ${PRINTING_FLAGS}`.split(" "))

const TEXT_NAME =
  /\.(?:srt|vtt|ass|ssa|sub|lrc|ttml|scc|txt|log|csv|json|xml|ini|md5|framemd5|sha256|crc|hash|ffmeta|ffmetadata|trf|key)$/i

/**
 * Option of an ffmpeg command: the word as written, the name without stream specifiers, and the
 * value (null for a flag). `at` is the index of the option's last word in the command.
 */
export type CommandOption = { word: string; name: string; value: string | null; at: number }

/**
 * Input or output file in an ffmpeg command: the word with the file name, the options that apply to
 * the file, and the index of the word.
 */
export type CommandFile = {
  kind: "input" | "output" | "decoder"
  word: string
  options: CommandOption[]
  at: number
}

/**
 * Parsed ffmpeg command: the files in order, the options after the last file (`trailing`), and the
 * last option if its value is missing (`incompleteOption`).
 */
export type ParsedCommand = {
  files: CommandFile[]
  trailing: CommandOption[]
  incompleteOption: string | null
}

/**
 * Returns all options of an ffmpeg command: those of all inputs and outputs, and those after the
 * last file (`trailing`).
 */
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

/**
 * Returns the value of the last option with this name among the options of a file; null if there is
 * none. ffmpeg ignores earlier options with the same name.
 */
export function findLastOptionValue({ options }: CommandFile, name: string): string | null {
  return options.findLast((option) => option.name === name)?.value ?? null
}

/**
 * Returns the duration, in seconds, of the part of a file that the options `-ss`, `-t` and `-to`
 * select. Returns null if one of these options cannot be parsed.
 */
export function computeTrimmedSeconds(file: CommandFile, seconds: number): number | null {
  const most = findLastOptionValue(file, "t")
  const from = parseFfmpegTime(findLastOptionValue(file, "ss") ?? "0")
  const end = parseFfmpegTime(
    (most === null ? findLastOptionValue(file, "to") : null) ?? String(seconds),
  )
  const length = parseFfmpegTime(most ?? String(seconds))
  if (from === null || end === null || length === null) return null
  return Math.max(0, Math.min(seconds - from, end - from, length))
}

/**
 * Reports whether a file of an ffmpeg command is an output that remains as a file. Outputs to
 * `/dev/null`, to `-f null` and to standard output do not.
 */
export function isKeptOutput(file: CommandFile): boolean {
  const isNull = findLastOptionValue(file, "f")?.toLowerCase() === "null"
  return file.kind === "output" && file.word !== "/dev/null" && !isNull && !isStdout(file.word)
}

/** Reports whether ffmpeg interprets the file name of an output as standard output. */
export function isStdout(word: string): boolean {
  return word === "-" || word === "pipe:" || word === "pipe:1"
}

/**
 * Reports whether a file name has the extension of a text file, such as subtitles, statistics,
 * hashes or a log.
 */
export function isTextFileName(name: string): boolean {
  return TEXT_NAME.test(name)
}

/**
 * Parses the words of an ffmpeg command, without the program's name, into files and their options.
 */
export function parseFfmpegCommand(words: readonly string[]): ParsedCommand {
  const files: CommandFile[] = []
  let options: CommandOption[] = []
  // The word after a lone "--" is a file name, even if the word looks like an option.
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
    const name = parseOptionName(word)
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

/**
 * Returns the name of an ffmpeg option without its dash and stream specifier: `filter` for
 * `-filter:v:0`.
 */
export function parseOptionName(word: string): string {
  return word.slice(1).split(":", 1)[0] ?? ""
}

/**
 * Reports whether an ffmpeg option takes no value. The result must agree with ffmpeg 5, since a
 * wrong result could let the parser mistake a value for a file name or a file name for a value.
 */
function isFlag(name: string): boolean {
  return ALL_FLAGS.has(name) || ALL_FLAGS.has(name.replace(/^no/, ""))
}
