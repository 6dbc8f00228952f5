/** Why the project's own ffmpeg lacks something that Debian's has. */
type Reason = { kinds: string; names: RegExp; why: string }

const CODECS = "encoders decoders"
const FORMATS = "muxers demuxers"

/** The first that fits counts. */
export const REASONS: readonly Reason[] = [
  {
    kinds: "protocols",
    names: /^(?:async|cache|concatf|data|fd|md5|subfile|tee|prompeg|hls|bluray)$/,
    why: "no command may name it",
  },
  { kinds: "protocols", names: /./, why: "a command has no network" },
  { kinds: "devices", names: /./, why: "a command has no device" },
  {
    kinds: FORMATS,
    names: /^(?:rtp|rtp_mpegts|rtsp|sap|sdp|whip|libamqp|librist)$/,
    why: "a command has no network",
  },
  {
    kinds: "demuxers",
    names: /^(?:dash|imf)$/,
    why: "refused: a list of media that lie elsewhere",
  },
  {
    kinds: FORMATS,
    names:
      /^(?:alsa|caca|fbdev|opengl|oss|pulse|sdl,?sdl2|sdl2?|xv|v4l2|video4linux2|dvdvideo|iec61883|jack|kmsgrab|libcdio|libdc1394|openal|x11grab|dvd\w*)$/,
    why: "a command has no device",
  },
  {
    kinds: "demuxers",
    names: /^lib(?:gme|openmpt|modplug)$/,
    why: "refused: not a format that is read",
  },
  { kinds: "muxers", names: /^chromaprint$/, why: "its library loads all of Debian's ffmpeg" },
  {
    kinds: CODECS,
    names: /_(?:amf|cuvid|nvenc|omx|qsv|v4l2m2m|vaapi|vulkan|d3d12va|mf)$/,
    why: "a command has no device",
  },
  { kinds: "bsfs", names: /./, why: "belongs to a device" },
  {
    kinds: "filters",
    names:
      /_(?:amf|cuda|npp|opencl|qsv|vaapi|vulkan)$|^hw(?:upload|download|map)|^(?:openclsrc|libplacebo|scale_vt)$/,
    why: "a command has no device",
  },
  { kinds: "filters", names: /^(?:ladspa|lv2|frei0r|frei0r_src)$/, why: "refused: loads code" },
  { kinds: "filters", names: /^a?zmq$/, why: "a command has no network" },
  {
    kinds: "filters",
    names: /^(?:asr|ocr|dnn_\w+)$/,
    why: "refused, or needs a model that is not here",
  },
  { kinds: "filters", names: /^flite$/, why: "25 MB of voices; speech is not made here" },
  { kinds: "encoders", names: /^librav1e$/, why: "libsvtav1 and libaom-av1 encode AV1" },
  { kinds: "encoders", names: /^libshine$/, why: "libmp3lame encodes MP3" },
  {
    kinds: CODECS,
    names: /^libjxl(?:_anim)?$/,
    why: "its library costs every start more than most others do together",
  },
  { kinds: CODECS, names: /^libcodec2$/, why: "speech of amateur radio" },
  { kinds: "decoders", names: /^librsvg$/, why: "SVG needs Cairo, Pango and a loader of pictures" },
]
