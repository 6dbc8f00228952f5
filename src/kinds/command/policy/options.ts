import { GLOBAL_FLAGS, PRINTING_FLAGS } from "../../../contract/command-line.ts"
import { byName } from "./refusal.ts"
import type { Reason, ReasonFor } from "./refusal.ts"

/** What an option's value is, where it is more than a word that only ffmpeg reads. */
export type OptionKind =
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

const REFUSED: readonly ReasonFor[] = [
  {
    names: "report",
    why: "writes a log file of its own",
    instead: "leave it out: processing_errors holds what ffmpeg said last",
  },
  {
    names: "progress",
    why: "sends progress to a place of its own",
    instead: "leave it out: GET /v1/jobs/{id}/events tells the progress",
  },
  {
    names:
      "vstats vstats_file stats_enc_pre stats_enc_post stats_mux_pre enc_stats_pre enc_stats_post mux_stats print_graphs_file",
    why: "writes figures of the run into a file that is no output",
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
    why: "reads a preset file of the machine",
    instead: "write the preset's options out, or use the encoder's -preset",
  },
  {
    names: "filter_script filter_complex_script graph_file",
    why: "reads a filter graph from a file",
    instead: "write the graph into -filter or -filter_complex",
  },
  {
    names: "hls_key_info_file",
    why: "reads a file that names other files",
    instead: "use -hls_enc 1 with -hls_enc_key and -hls_enc_key_url",
  },
  {
    names:
      "method listen listen_timeout http_proxy headers user_agent user-agent http_user_agent http_persistent http_multiple http_seekable http_opts cookies referer post_data chunked_post multiple_requests reconnect reconnect_at_eof reconnect_streamed reconnect_delay_max reconnect_max_retries reconnect_on_network_error reconnect_on_http_error icy auth_type send_expect_100 gateway tls_verify verify verifyhost ca_file cafile cert cert_file cert_pem key_file key_pem rtsp_transport rtsp_flags localaddr localport local_rtpport rtmp_app rtmp_playpath rtmp_tcurl ice_name ice_url ice_description ice_genre authorization whip_flags stimeout",
    why: "is for a network, and a command has none",
    instead: "leave it out: what the URL of an input names is there before the command starts",
  },
  {
    names: "protocol_whitelist protocol_blacklist format_whitelist codec_whitelist",
    why: "is set by the service",
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
    instead: "leave it out: the same works in software",
  },
  {
    names: "omx_libname omx_libprefix load_plugins aribb24-base-path",
    why: "loads code or data of the machine",
    instead: "leave it out",
  },
]

const PRINTING: ReasonFor = {
  names: PRINTING_FLAGS,
  why: "prints something and makes no output",
  instead: "leave it out",
}

const FROM_FILE: Reason = {
  why: "reads its value from a file",
  instead: "write the value into the command",
}

/** Options with a value, for the whole command. */
const GLOBALS =
  "v loglevel max_alloc cpuflags cpucount timelimit vsync async frame_drop_threshold adrift_threshold copytb dts_delta_threshold dts_error_threshold abort_on filter_threads filter_buffered_frames filter_complex filter_complex_threads lavfi stats_period max_error_rate vol vstats_version print_graphs_format"

const GLOBAL = new Set(`${GLOBAL_FLAGS} ${GLOBALS}`.split(" "))

const REASONS = byName([...REFUSED, PRINTING])
const INNER_REASONS = byName(REFUSED)
const KIND_OF: ReadonlyMap<string, OptionKind> = new Map([
  ...each(
    "text",
    "metadata program stream_group timestamp timecode bsf absf vbsf utc_timing_url hls_base_url segment_list_entry_prefix force_key_frames dump_separator service_name service_provider comment",
  ),
  ...each("graph", "vf af filter filter_complex lavfi graph"),
  ...each("format", "f segment_format fifo_format"),
  ...each("codec", "c codec vcodec acodec scodec dcodec"),
  ...each("threads", "threads filter_threads filter_complex_threads thread_count"),
  ...each("acceleration", "hwaccel"),
  ...each("variants", "var_stream_map cc_stream_map"),
  ...each(
    "options",
    "format_opts format_options segment_format_options hls_segment_options hls_ts_options hls_vtt_options fifo_options protocol_opts mpegts_muxer_options rtp_muxer_options",
  ),
  ...each(
    "parameters",
    "x264-params x264opts x265-params svtav1-params aom-params rav1e-params vvenc-params kvazaar-params xavs2-params xeve-params oapv-params ts-parameters vpx-ts-parameters qsv_params",
  ),
  ...each("read", "attach sub_name ifo_palette"),
  ...each(
    "write",
    "passlogfile x265-stats hls_segment_filename hls_fmp4_init_filename hls_subtitle_path hls_enc_key_url master_pl_name init_seg_name media_seg_name single_file_name hls_master_name segment_list segment_header_filename header",
  ),
])

/** Options of every codec, which ffmpeg also takes with a leading v, a or s. */
const WITH_MEDIA_LETTER = new Set(["codec_whitelist", "threads", "dump_separator", "sub_charenc"])

/** Whether an option is for the whole command, so that it may follow the last output. */
export function isGlobal(name: string): boolean {
  return GLOBAL.has(name) || GLOBAL.has(withoutNo(name))
}

/** Why an option is refused whatever its value; null where it is not. */
export function reasonAgainstOption(name: string): Reason | null {
  if (name.startsWith("/")) return FROM_FILE
  return REASONS.get(fullName(name)) ?? REASONS.get(withoutNo(name)) ?? null
}

/** Why an option within another's value is refused; null where it is not. */
export function reasonAgainstInnerOption(name: string): Reason | null {
  return INNER_REASONS.get(name) ?? null
}

/** What an option's value is; null where only ffmpeg reads it. */
export function kindOfOption(name: string): OptionKind | null {
  return KIND_OF.get(fullName(name)) ?? null
}

function withoutNo(name: string): string {
  return name.replace(/^no/, "")
}

function fullName(name: string): string {
  const rest = name.slice(1)
  return /^[vas]/.test(name) && WITH_MEDIA_LETTER.has(rest) ? rest : name
}

function each(kind: OptionKind, names: string): [string, OptionKind][] {
  return names.split(" ").map((name) => [name, kind])
}
