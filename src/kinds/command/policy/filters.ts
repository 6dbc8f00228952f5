import type { Reason } from "./refusal.ts"

/** What a value of a filter's option is, where it is more than a word that only ffmpeg reads. */
export type FilterOptionKind =
  | "text"
  | "media"
  | "read"
  | "write"
  | "font"
  | "folder"
  | "format"
  | "options"
  | "commands"
  | "model"
  | "threads"

/** Names of options by what their values are; `order` is how values without a name are taken. */
type FilterFacts = Partial<Record<FilterOptionKind | "order", string>>

const MOVIE: FilterFacts = {
  order:
    "filename format_name stream_index seek_point streams loop discontinuity dec_threads format_opts",
  media: "filename",
  format: "format_name f",
  options: "format_opts",
  threads: "dec_threads",
}
const SUBTITLES: FilterFacts = {
  order: "filename original_size fontsdir alpha charenc stream_index force_style",
  read: "filename f",
  folder: "fontsdir",
  text: "force_style",
}
const METADATA: FilterFacts = {
  order: "mode key value function expr file",
  text: "key value expr",
  write: "file",
}
const FIGURES: FilterFacts = { order: "stats_file", write: "stats_file f" }
const COMMANDS: FilterFacts = {
  order: "commands filename",
  commands: "commands c",
  read: "filename f",
}
const TABLE: FilterFacts = { order: "file", read: "file" }

const FILTERS = new Map<string, FilterFacts>(
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
    psnr: FIGURES,
    ssim: FIGURES,
    ssim360: FIGURES,
    xpsnr: FIGURES,
    vmafmotion: FIGURES,
    loudnorm: { write: "stats_file" },
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
    lut3d: TABLE,
    lut1d: TABLE,
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
  } satisfies Record<string, FilterFacts>),
)

const REFUSED: readonly (Reason & { names: RegExp })[] = [
  {
    names: /^(?:ladspa|lv2|frei0r|frei0r_src|vst|coreimage|coreimagesrc)$/,
    why: "loads code from a file",
    instead: "use a filter of ffmpeg's own",
  },
  {
    names: /^a?zmq$/,
    why: "listens to a network, and a command has none",
    instead: "use sendcmd or asendcmd",
  },
  {
    names:
      /_(?:amf|cuda|d3d11|d3d12|npp|opencl|qsv|vaapi|videotoolbox|vt|vulkan)$|^hw(?:upload|download|map)|^(?:openclsrc|vsrc_amf|libplacebo)$/,
    why: "needs a device, and a command has none",
    instead: "use the filter of the same kind that works in software",
  },
  {
    names: /^(?:dnn_.*|asr)$/,
    why: "needs a model that is not here",
    instead: "leave it out",
  },
  {
    names: /^whisper$/,
    why: "needs a model that is not here",
    instead: "use POST /v1/transcribe",
  },
  {
    names: /^(?:ddagrab|gfxcapture)$/,
    why: "records a screen, and there is none",
    instead: "read from an input",
  },
]

/** Options that every filter has. */
const EVERYWHERE = new Map<string, FilterOptionKind>([
  ["threads", "threads"],
  ["enable", "text"],
])

/** Why a filter is refused whatever its options; null where it is not. */
export function reasonAgainstFilter(name: string): Reason | null {
  return REFUSED.find(({ names }) => names.test(name)) ?? null
}

/** The name of the option that a filter takes its value without a name for, by place. */
export function optionAt(filter: string, place: number): string | null {
  return FILTERS.get(filter)?.order?.split(" ")[place] ?? null
}

/** What an option's value is to a filter; null where only ffmpeg reads it. */
export function kindOfFilterOption(filter: string, option: string): FilterOptionKind | null {
  const facts = FILTERS.get(filter) ?? {}
  const kind = FILTER_OPTION_KINDS.find((each) => facts[each]?.split(" ").includes(option))
  return kind ?? EVERYWHERE.get(option) ?? null
}

const FILTER_OPTION_KINDS = [
  "text",
  "media",
  "read",
  "write",
  "font",
  "folder",
  "format",
  "options",
  "commands",
  "model",
  "threads",
] as const satisfies FilterOptionKind[]

/** Every name under which some filter takes a file and which is no single letter. */
export const FILE_OPTION_NAMES: readonly string[] = [
  ...new Set(
    [...FILTERS.values()]
      .flatMap(({ media, read, font, write }) => [media, read, font, write])
      .flatMap((names) => names?.split(" ") ?? [])
      .filter((name) => name.length > 1),
  ),
]
