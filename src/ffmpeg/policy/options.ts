import { GLOBAL_FLAGS, PRINTING_FLAGS } from "../command-line.ts"
import { indexRefusalReasonsByName } from "./refusal.ts"
import type { RefusalReason, RefusalReasonGroup } from "./refusal.ts"

/** Kind of an ffmpeg option's value, which decides how the policy checks the value. */
export type OptionValueKind =
  | "text"
  | "graph"
  | "format"
  | "codec"
  | "threads"
  | "acceleration"
  | "variants"
  | "options"
  | "parameters"
  | "read"
  | "write"
  | "print"
  | "graph-file"
  | "key-info"

const REFUSED: readonly RefusalReasonGroup[] = [
  {
    names: "report",
    why: "writes a log file of its own",
    instead: "leave it out: processing_errors has the last lines of ffmpeg",
  },
  {
    names:
      "vstats vstats_file stats_enc_pre stats_enc_post stats_mux_pre enc_stats_pre enc_stats_post mux_stats print_graphs_file",
    why: "writes statistics to a file that is not an output",
    instead: "leave it out, or use the filters psnr, ssim or metadata with an output's key",
  },
  {
    names: "sdp_file",
    why: "describes a network stream, and a command has no network",
    instead: "leave it out",
  },
  {
    names: "dump_attachment",
    why: "writes a file whose name an input may choose",
    instead: "keep attachments with -map 0:t -c:t copy in a Matroska output",
  },
  {
    names: "pre fpre vpre apre spre",
    why: "reads a preset file of the server",
    instead: "write the options of the preset, or use the encoder's -preset",
  },
  {
    names: "graph_file",
    why: "reads a filter graph from a file",
    instead: "write the graph into -i, or use -filter_complex_script with an input",
  },
  {
    names:
      "method listen listen_timeout http_proxy headers user_agent user-agent http_user_agent http_persistent http_multiple http_seekable http_opts cookies referer post_data chunked_post multiple_requests reconnect reconnect_at_eof reconnect_streamed reconnect_delay_max reconnect_max_retries reconnect_on_network_error reconnect_on_http_error icy auth_type send_expect_100 gateway tls_verify verify verifyhost ca_file cafile cert cert_file cert_pem key_file key_pem rtsp_transport rtsp_flags localaddr localport local_rtpport rtmp_app rtmp_playpath rtmp_tcurl ice_name ice_url ice_description ice_genre authorization whip_flags stimeout",
    why: "needs a network, and a command has none",
    instead: "leave it out: the service downloads inputs before the command starts",
  },
  {
    names: "protocol_whitelist protocol_blacklist format_whitelist codec_whitelist",
    why: "is a setting of the service",
    instead: "leave it out",
  },
  {
    names: "use_absolute_path enable_drefs assetmaps",
    why: "lets an input open other files by name",
    instead: "leave it out and give every file as an input",
  },
  {
    names:
      "allowed_extensions allowed_segment_extensions extension_picky seg_format_options live_start_index m3u8_hold_counters",
    why: "is for playlists, which cannot be inputs",
    instead: "leave it out and give the playlist's URL, or the media itself, as an input",
  },
  {
    names:
      "init_hw_device filter_hw_device hwaccel_device hwaccel_output_format vaapi_device qsv_device vdpau_api_ver gpu",
    why: "needs a device, and a command has none",
    instead: "leave it out: software does the same",
  },
  {
    names: "omx_libname omx_libprefix load_plugins aribb24-base-path",
    why: "loads code or data of the server",
    instead: "leave it out",
  },
]

const PRINTING: RefusalReasonGroup = {
  names: PRINTING_FLAGS,
  why: "prints information and makes no output",
  instead: "leave it out",
}

/**
 * Options that are allowed only outside the values of other options. These options name files that
 * the runner must read before the command, and the runner does not search nested options.
 */
const OUTER: RefusalReasonGroup = {
  names: "filter_script filter_complex_script hls_key_info_file",
  why: "reads a file, and only an option of an output itself may do so",
  instead: "write it before an output",
}

const FROM_FILE: RefusalReason = {
  why: "reads its value from a file",
  instead: "write the value into the command",
}

/** Global ffmpeg options that take a value. */
const GLOBALS =
  "v loglevel progress max_alloc cpuflags cpucount timelimit vsync async frame_drop_threshold adrift_threshold copytb dts_delta_threshold dts_error_threshold abort_on filter_threads filter_buffered_frames filter_complex filter_complex_threads filter_complex_script /filter_complex lavfi /lavfi stats_period max_error_rate vol vstats_version print_graphs_format"

const GLOBAL = new Set(`${GLOBAL_FLAGS} ${GLOBALS}`.split(" "))

const REASONS = indexRefusalReasonsByName([...REFUSED, PRINTING])
const INNER_REASONS = indexRefusalReasonsByName([...REFUSED, OUTER])
const OPTION_KINDS: ReadonlyMap<string, OptionValueKind> = new Map([
  ...kindEntries(
    "text",
    "metadata program stream_group timestamp timecode bsf absf vbsf utc_timing_url hls_base_url segment_list_entry_prefix force_key_frames dump_separator service_name service_provider comment",
  ),
  ...kindEntries("graph", "vf af filter filter_complex lavfi graph"),
  ...kindEntries(
    "graph-file",
    "filter_script filter_complex_script /vf /af /filter /filter_complex /lavfi",
  ),
  ...kindEntries("key-info", "hls_key_info_file"),
  ...kindEntries("format", "f segment_format fifo_format"),
  ...kindEntries("codec", "c codec vcodec acodec scodec dcodec"),
  ...kindEntries("threads", "threads filter_threads filter_complex_threads thread_count"),
  ...kindEntries("acceleration", "hwaccel"),
  ...kindEntries("variants", "var_stream_map cc_stream_map"),
  ...kindEntries(
    "options",
    "format_opts format_options segment_format_options hls_segment_options hls_ts_options hls_vtt_options fifo_options protocol_opts mpegts_muxer_options rtp_muxer_options",
  ),
  ...kindEntries(
    "parameters",
    "x264-params x264opts x265-params svtav1-params aom-params rav1e-params vvenc-params kvazaar-params xavs2-params xeve-params oapv-params ts-parameters vpx-ts-parameters qsv_params",
  ),
  ...kindEntries("read", "attach sub_name ifo_palette"),
  ...kindEntries(
    "write",
    "passlogfile x265-stats hls_segment_filename hls_fmp4_init_filename hls_subtitle_path hls_enc_key_url master_pl_name init_seg_name media_seg_name single_file_name hls_master_name segment_list segment_header_filename header",
  ),
  ...kindEntries("print", "progress"),
])

/**
 * Codec options that ffmpeg also accepts with a leading `v`, `a` or `s` for the type of the stream.
 */
const WITH_MEDIA_LETTER = new Set(["codec_whitelist", "threads", "dump_separator", "sub_charenc"])

/** Reports whether an ffmpeg option is global. Only global options may follow the last output. */
export function isGlobalOption(name: string): boolean {
  return GLOBAL.has(name) || GLOBAL.has(withoutNegation(name))
}

/**
 * Returns the reason to refuse an ffmpeg option regardless of its value; null if the option is
 * allowed.
 */
export function findOptionRefusalReason(name: string): RefusalReason | null {
  if (name.startsWith("/") && findOptionValueKind(name) !== "graph-file") return FROM_FILE
  return REASONS.get(fullName(name)) ?? REASONS.get(withoutNegation(name)) ?? null
}

/**
 * Returns the reason to refuse an ffmpeg option inside the value of another option; null if the
 * option is allowed.
 */
export function findNestedOptionRefusalReason(name: string): RefusalReason | null {
  return INNER_REASONS.get(name) ?? null
}

/** Returns the kind of an ffmpeg option's value; null for a value that needs no special check. */
export function findOptionValueKind(name: string): OptionValueKind | null {
  return OPTION_KINDS.get(fullName(name)) ?? null
}

function withoutNegation(name: string): string {
  return name.replace(/^no/, "")
}

function fullName(name: string): string {
  const rest = name.slice(1)
  return /^[vas]/.test(name) && WITH_MEDIA_LETTER.has(rest) ? rest : name
}

function kindEntries(kind: OptionValueKind, names: string): [string, OptionValueKind][] {
  return names.split(" ").map((name) => [name, kind])
}
