import type { RefusalReason } from "./refusal.ts"

/**
 * Kind of a filter option's value, which decides how the policy checks the value. `print` is a file
 * to write, or `-` for standard output.
 */
export type FilterOptionValueKind =
  | "text"
  | "media"
  | "read"
  | "write"
  | "print"
  | "font"
  | "folder"
  | "format"
  | "options"
  | "commands"
  | "model"
  | "threads"

/**
 * Options of a filter, grouped by the kind of their values. `order` lists the names of the options
 * that positional values set, in order.
 */
type FilterOptions = Partial<Record<FilterOptionValueKind | "order", string>>

const MOVIE: FilterOptions = {
  order:
    "filename format_name stream_index seek_point streams loop discontinuity dec_threads format_opts",
  media: "filename",
  format: "format_name f",
  options: "format_opts",
  threads: "dec_threads",
}
const SUBTITLES: FilterOptions = {
  order: "filename original_size fontsdir alpha charenc stream_index force_style",
  read: "filename f",
  folder: "fontsdir",
  text: "force_style",
}
const METADATA: FilterOptions = {
  order: "mode key value function expr file",
  text: "key value expr",
  print: "file",
}
const QUALITY_METRICS: FilterOptions = { order: "stats_file", print: "stats_file f" }
const COMMANDS: FilterOptions = {
  order: "commands filename",
  commands: "commands c",
  read: "filename f",
}
const LOOKUP_TABLE: FilterOptions = { order: "file", read: "file" }

const FILTERS = new Map<string, FilterOptions>(
  Object.entries({
    movie: MOVIE,
    amovie: MOVIE,
    subtitles: SUBTITLES,
    ass: { ...SUBTITLES, order: "filename original_size fontsdir alpha shaping" },
    drawtext: {
      order: "fontfile text textfile",
      read: "textfile",
      font: "fontfile",
      text: "text timecode text_source",
    },
    metadata: METADATA,
    ametadata: METADATA,
    psnr: QUALITY_METRICS,
    ssim: QUALITY_METRICS,
    ssim360: QUALITY_METRICS,
    xpsnr: QUALITY_METRICS,
    vmafmotion: QUALITY_METRICS,
    loudnorm: { print: "stats_file" },
    libvmaf: {
      order: "log_path model_path",
      write: "log_path",
      read: "model_path",
      model: "model",
      threads: "n_threads",
    },
    vidstabdetect: { order: "result", write: "result" },
    vidstabtransform: { order: "input", read: "input" },
    deshake: { order: "x y w h rx ry edge blocksize contrast search filename", write: "filename" },
    signature: { order: "detectmode nb_inputs filename", write: "filename" },
    sendcmd: COMMANDS,
    asendcmd: COMMANDS,
    lut3d: LOOKUP_TABLE,
    lut1d: LOOKUP_TABLE,
    fsync: { order: "file", read: "file f" },
    drawvg: { order: "script file", read: "file" },
    curves: {
      order: "preset master red green blue all psfile plot",
      read: "psfile",
      write: "plot",
    },
    selectivecolor: {
      order:
        "correction_method reds yellows greens cyans blues magentas whites neutrals blacks psfile",
      read: "psfile",
    },
    removelogo: { order: "filename", read: "filename f" },
    cover_rect: { order: "cover", read: "cover" },
    find_rect: { order: "object", read: "object" },
    fieldhint: { order: "hint", read: "hint" },
    cellauto: { order: "filename", read: "filename f" },
    life: { order: "filename", read: "filename f" },
    nnedi: { order: "weights", read: "weights" },
    arnndn: { order: "model", read: "model m" },
    sofalizer: { order: "sofa", read: "sofa" },
    sr: { read: "model" },
    derain: { read: "model" },
    ocr: { order: "datapath", folder: "datapath" },
    lensfun: { read: "db_path" },
    flite: {
      order: "list_voices nb_samples text textfile",
      text: "text",
      read: "textfile",
    },
    qrencode: { text: "text", read: "textfile fontfile" },
    qrencodesrc: { text: "text", read: "textfile fontfile" },
    showcqt: { read: "axisfile", font: "fontfile" },
    firequalizer: { write: "dumpfile" },
  } satisfies Record<string, FilterOptions>),
)

const REFUSED: readonly (RefusalReason & { names: RegExp })[] = [
  {
    names: /^(?:ladspa|lv2|frei0r|frei0r_src|vst|coreimage|coreimagesrc)$/,
    why: "loads code from a file",
    instead: "use a filter of ffmpeg's own",
  },
  {
    names: /^a?zmq$/,
    why: "listens on a network, and a command has none",
    instead: "use sendcmd or asendcmd",
  },
  {
    names:
      /_(?:amf|cuda|d3d11|d3d12|npp|opencl|qsv|vaapi|videotoolbox|vt|vulkan)$|^hw(?:upload|download|map)|^(?:openclsrc|vsrc_amf|libplacebo)$/,
    why: "needs a device, and a command has none",
    instead: "use its counterpart that works in software",
  },
  {
    names: /^(?:dnn_.*|asr)$/,
    why: "needs a model that this service does not have",
    instead: "leave it out",
  },
  {
    names: /^whisper$/,
    why: "needs a model that this service does not have",
    instead: "use POST /v1/transcribe",
  },
  {
    names: /^(?:ddagrab|gfxcapture)$/,
    why: "records a screen, and a command has none",
    instead: "read from an input",
  },
]

/** Options that every filter has. */
const OPTIONS_OF_EVERY_FILTER = new Map<string, FilterOptionValueKind>([
  ["threads", "threads"],
  ["enable", "text"],
])

/**
 * Returns the reason to refuse a filter regardless of its options; null if the filter is allowed.
 */
export function findFilterRefusalReason(name: string): RefusalReason | null {
  return REFUSED.find(({ names }) => names.test(name)) ?? null
}

/**
 * Returns the name of the filter option that a positional value sets; null if unknown. `place` is
 * the index of the value among the filter's options.
 */
export function findPositionalOptionName(filter: string, place: number): string | null {
  return FILTERS.get(filter)?.order?.split(" ")[place] ?? null
}

/** Returns the kind of a filter option's value; null for a value that needs no special check. */
export function findFilterOptionValueKind(
  filter: string,
  option: string,
): FilterOptionValueKind | null {
  const facts = FILTERS.get(filter) ?? {}
  const kind = FILTER_OPTION_KINDS.find((each) => facts[each]?.split(" ").includes(option))
  return kind ?? OPTIONS_OF_EVERY_FILTER.get(option) ?? null
}

const FILTER_OPTION_KINDS = [
  "text",
  "media",
  "read",
  "write",
  "print",
  "font",
  "folder",
  "format",
  "options",
  "commands",
  "model",
  "threads",
] as const satisfies FilterOptionValueKind[]

/** Names of filter options that take a file name, without names of a single letter. */
export const FILTER_FILE_OPTION_NAMES: readonly string[] = [
  ...new Set(
    [...FILTERS.values()]
      .flatMap(({ media, read, font, write, print }) => [media, read, font, write, print])
      .flatMap((names) => names?.split(" ") ?? [])
      .filter((name) => name.length > 1),
  ),
]
