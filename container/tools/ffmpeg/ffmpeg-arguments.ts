import { listAllOptions, parseFfmpegCommand } from "../../../src/ffmpeg/command-line.ts"
import type { CommandOption } from "../../../src/ffmpeg/command-line.ts"

// Lists of formats and decoders that ffmpeg and ffprobe may use, by ffmpeg's names. A build of
// ffmpeg ignores unknown names in these lists. Formats that refer to other files (hls, dash,
// concat, imf, sdp) are omitted, because ffmpeg detects such formats under any file name and opens
// the files that they refer to.

const CONTAINERS =
  "mov matroska webm avi asf flv mpegts mpeg mpegvideo m4v mxf mxf_opatom nut ogg rm swf gxf lxf " +
  "dv ivf obu wtv nsv vc1 vc1test h261 h263 h264 hevc vvc evc av1 avs2 avs3 cavsvideo dirac dnxhd " +
  "mjpeg yuv4mpegpipe rawvideo bitpacked cdg cine mods r3d smjpeg ipu xwma gif apng amr kux " +
  "live_flv pva dhav v210 v210x"

const PICTURES =
  "image2 image2pipe alias_pix_pipe bmp_pipe dds_pipe dpx_pipe exr_pipe gif_pipe hdr_pipe " +
  "j2k_pipe jpeg_pipe jpegls_pipe jpegxl_pipe jpegxl_anim pam_pipe pbm_pipe pcx_pipe pfm_pipe " +
  "pgm_pipe pgmyuv_pipe phm_pipe png_pipe ppm_pipe psd_pipe qoi_pipe sgi_pipe sunrast_pipe " +
  "svg_pipe tiff_pipe webp_pipe xbm_pipe xpm_pipe xwd_pipe fits ico"

const SOUND =
  "aac aa ac3 ac4 act adx aea aiff alaw amrnb amrwb ape apm aptx aptx_hd au caf codec2 dsf dss " +
  "dts dtshd eac3 flac g722 g723_1 g726 g726le g729 gsm iamf iff ilbc nistsphere ircam lc3 loas mlp mmf " +
  "mp3 mpc mpc8 mulaw oma qcp qoa sbc shn sln sox spdif tak truehd tta voc w64 wav wsaud wv " +
  "f32be f32le f64be f64le s8 s16be s16le s24be s24le s32be s32le u8 u16be u16le u24be u24le " +
  "u32be u32le"

const TEXTS =
  "ass srt webvtt ffmetadata microdvd mpl2 mpsub pjs realtext sami scc mcc stl subviewer " +
  "subviewer1 sup vplayer jacosub lrc dvbsub dvbtxt tedcaptions"

/** Formats that ffmpeg may detect in an input. */
export const WHITELISTED_FORMATS = words(CONTAINERS, PICTURES, SOUND, TEXTS)

/** Formats that are allowed for an input only if the command names the format by `-f`. */
const FORMATS_ON_REQUEST = words("concat data lavfi")

const VIDEO_DECODERS =
  "libdav1d libaom-av1 av1 h261 h263 h263i h263p h264 hevc vvc evc libxevd vp3 vp4 vp5 vp6 vp6a " +
  "vp6f vp7 vp8 vp9 libvpx libvpx-vp9 mpeg1video mpeg2video mpegvideo mpeg4 msmpeg4 msmpeg4v1 " +
  "msmpeg4v2 wmv1 wmv2 wmv3 wmv3image vc1 vc1image theora flv flashsv flashsv2 svq1 svq3 cavs " +
  "libdavs2 libuavs3d dirac snow rv10 rv20 rv30 rv40 indeo2 indeo3 indeo4 indeo5 cinepak msvideo1 " +
  "msrle qtrle rpza smc 8bps cyuv qdraw aic cfhd dnxhd dvvideo prores hap hqx hq_hqa ffv1 ffvhuff " +
  "huffyuv lagarith utvideo mjpeg mjpegb sp5x speedhq v210 v210x v308 v408 v410 r10k " +
  "r210 y41p yuv4 ayuv avui avrp rawvideo wrapped_avframe bitpacked zlib zmbv camtasia tscc2 fraps " +
  "dxtory dxv truemotion1 truemotion2 cljr cllc asv1 asv2 aasc loco cdgraphics mxpeg vble notchlc " +
  "pixlet photocd amv camstudio mss1 mss2 mimic"

const PICTURE_DECODERS =
  "apng bmp dds dpx exr fits gif hdr jpeg2000 libopenjpeg jpegls libjxl libjxl_anim pam pbm pcx " +
  "pfm pgm pgmyuv phm png ppm psd qoi sgi sunrast librsvg targa tiff wbmp webp libwebp xbm xpm xwd " +
  "alias_pix iff pictor"

const SOUND_DECODERS =
  "aac aac_fixed aac_latm libfdk_aac ac3 ac3_fixed eac3 ac4 mlp truehd dca mp1 mp1float mp2 " +
  "mp2float mp3 mp3float mp3adu mp3adufloat mp3on4 mp3on4float als opus libopus vorbis libvorbis " +
  "flac alac wavpack ape tta tak shorten mpc7 mpc8 wmav1 wmav2 wmapro wmalossless wmavoice cook " +
  "sipr ralf real_144 real_288 atrac1 atrac3 atrac3al atrac3plus atrac3plusal atrac9 qdm2 qdmc " +
  "qcelp evrc nellymoser speex libspeex ilbc libilbc gsm libgsm gsm_ms libgsm_ms amrnb amrwb " +
  "libopencore_amrnb libopencore_amrwb g722 g723_1 g726 g726le g729 aptx aptx_hd sbc libcodec2 lc3 " +
  "liblc3 qoa dsd_lsbf dsd_lsbf_planar dsd_msbf dsd_msbf_planar dst dss_sp dolby_e s302m mace3 " +
  "mace6 truespeech twinvq metasound on2avc comfortnoise dvaudio adpcm_4xm adpcm_adx adpcm_ct " +
  "adpcm_g722 adpcm_g726 adpcm_ima_amv adpcm_ima_qt adpcm_ima_smjpeg adpcm_ima_wav adpcm_ms " +
  "adpcm_sbpro_2 adpcm_sbpro_3 adpcm_sbpro_4 adpcm_swf adpcm_yamaha pcm_alaw pcm_bluray pcm_dvd " +
  "pcm_f16le pcm_f24le pcm_f32be pcm_f32le pcm_f64be pcm_f64le pcm_lxf pcm_mulaw pcm_s16be " +
  "pcm_s16be_planar pcm_s16le pcm_s16le_planar pcm_s24be pcm_s24daud pcm_s24le pcm_s24le_planar " +
  "pcm_s32be pcm_s32le pcm_s32le_planar pcm_s64be pcm_s64le pcm_s8 pcm_s8_planar pcm_u16be " +
  "pcm_u16le pcm_u24be pcm_u24le pcm_u32be pcm_u32le pcm_u8 pcm_vidc 8svx_exp 8svx_fib"

const TEXT_DECODERS =
  "ass ssa srt subrip webvtt text mov_text ttml cc_dec dvbsub dvdsub pgssub xsub " +
  "libzvbi_teletextdec libaribb24 libaribcaption jacosub microdvd mpl2 pjs realtext sami stl " +
  "subviewer subviewer1 vplayer"

/** Decoders that ffmpeg may use. Decoders for old games and screen recorders are omitted. */
export const WHITELISTED_DECODERS = words(
  VIDEO_DECODERS,
  PICTURE_DECODERS,
  SOUND_DECODERS,
  TEXT_DECODERS,
)

/**
 * Arguments that precede the caller's arguments. With these arguments, ffmpeg ignores the terminal,
 * and writes its progress to file descriptor 3 four times a second.
 */
const LEADING_ARGUMENTS = "-nostdin -hide_banner -progress pipe:3 -stats_period 0.25".split(" ")

/**
 * Returns the arguments of ffmpeg for a caller's command in which keys of files, such as
 * `{{in_1}}`, are already replaced by file names. Adds the whitelists of formats, decoders and
 * protocols to each input. ffmpeg overwrites existing files unless the command contains `-n`.
 */
export function restrictedFfmpegArguments(argv: readonly string[]): string[] {
  const own = new Set(findProgressOptions(argv).flatMap(({ at }) => [at - 1, at]))
  const guarded = argv.flatMap((word, index) => {
    if (own.has(index)) return []
    return word === "-i" ? [...inputOptions(argv, index), word] : [word]
  })
  return argv.includes("-n")
    ? [...LEADING_ARGUMENTS, ...guarded]
    : ["-y", ...LEADING_ARGUMENTS, ...guarded]
}

/**
 * Returns the `-progress` options of a caller's command. The runner removes these options, since it
 * sets `-progress` itself and ffmpeg writes its progress to only one target. Instead, the runner
 * copies the progress lines to standard output.
 */
export function findProgressOptions(argv: readonly string[]): CommandOption[] {
  return listAllOptions(parseFfmpegCommand(argv)).filter(({ name }) => name === "progress")
}

/**
 * Returns options that restrict ffmpeg or ffprobe to local files of whitelisted formats. `allowed`
 * adds protocols and formats to the whitelists.
 */
export function whitelistOptions(allowed: {
  protocols: readonly string[]
  formats: readonly string[]
}): string[] {
  return [
    "-protocol_whitelist",
    ["file", ...allowed.protocols].join(","),
    "-format_whitelist",
    [...WHITELISTED_FORMATS, ...allowed.formats].join(","),
    "-codec_whitelist",
    WHITELISTED_DECODERS.join(","),
  ]
}

function inputOptions(argv: readonly string[], at: number): string[] {
  const options = argv.slice(at === 0 ? 0 : argv.lastIndexOf("-i", at - 1) + 1, at)
  const format = options[options.lastIndexOf("-f") + 1] ?? ""
  return whitelistOptions({
    protocols: argv[at + 1]?.startsWith("concat:") ? ["concat"] : [],
    formats: options.includes("-f") && FORMATS_ON_REQUEST.includes(format) ? [format] : [],
  })
}

function words(...texts: string[]): string[] {
  return [...new Set(texts.join(" ").split(" "))]
}
