// Options of two builds: ffmpeg with ffprobe, which have no code for networks and devices, and
// fetch-ffmpeg, which yt-dlp uses and which has a network.

/** Debian suite from which ffmpeg's source is taken; also the suite of the image. */
export const DEBIAN_SUITE = "trixie"

/**
 * Oldest accepted version of Debian's ffmpeg source. It was the newest version at the last review.
 */
export const DEBIAN_SOURCE_VERSION_MIN = "7:7.1.5-0+deb13u1"

/** Options of ffmpeg's `configure` for both builds. */
export const CONFIGURE_FLAGS = [
  "--prefix=/usr",
  // Bounds checks and randomized addresses, as in Debian's build.
  "--toolchain=hardened",
  "--enable-gpl",
  "--enable-version3",
  "--disable-autodetect",
  "--disable-doc",
  "--disable-debug",
  "--disable-ffplay",
  // Links the libraries that build.ts creates beside the build folder: see zeroed.c and
  // STATICALLY_LINKED_LIBRARIES.
  "--extra-libs=../libzeroed.a",
  "--extra-ldexeflags=-Wl,--wrap=av_mallocz",
  "--extra-ldflags=-L../static",
]

/**
 * Libraries to link statically if their Debian package contains a static library. The Theora
 * encoder needs only four functions of libtheoradec, which would load Cairo and X if it were linked
 * dynamically.
 */
export const STATICALLY_LINKED_LIBRARIES = ["theoradec"]

/**
 * Protocols that ffmpeg supports, each with its use. Commands of callers may name only `concat`.
 */
export const FFMPEG_PROTOCOLS: Record<string, string> = {
  file: "inputs and outputs",
  pipe: "progress, and sound that goes to a reader as it is decoded",
  concat: "inputs that are pieces of one file",
  crypto: "HLS with encrypted segments",
}

/**
 * Linker options that put libstdc++ and libc first. The dynamic loader searches symbols in the
 * order of the libraries, and most symbols are in these two. Behind fifty other libraries, the
 * search takes a tenth of the start time.
 */
const CPP_LIBRARIES_FIRST = "LD=gcc -Wl,--push-state,--no-as-needed -lstdc++ -lc -Wl,--pop-state"

/**
 * Component list, a C file that `configure` writes, and a pattern for the names to remove from it.
 */
export type ComponentOmission = { list: string; names: RegExp }

/**
 * Components that ffprobe omits. ffprobe reads every format that ffmpeg reads, but writes none:
 * without encoders, muxers, filters and their libraries it starts in a fraction of the time.
 * Decoders of external libraries are omitted too, because ffmpeg has native decoders for the same
 * codecs. Exceptions are AV1, whose decoder is kept, and teletext, which ffprobe identifies by
 * stream headers.
 */
const PROBE_OMISSIONS: readonly ComponentOmission[] = [
  { list: "libavcodec/codec_list.c", names: /_encoder$|^ff_lib(?!dav1d_)/ },
  { list: "libavformat/muxer_list.c", names: /./ },
  { list: "libavfilter/filter_list.c", names: /./ },
  { list: "libavdevice/indev_list.c", names: /./ },
]

export type FfmpegLibrary = {
  /** Name of the library in the option `--enable-…` of `configure`. */
  option: string
  /** Debian package that the build needs; null for a part of the C library. */
  package: string | null
  why: string
  /** Whether ffmpeg is built without the library if a Debian suite lacks its package. */
  isOptional?: true
}

/** External libraries that ffmpeg is linked with. */
export const FFMPEG_LIBRARIES: readonly FfmpegLibrary[] = [
  { option: "libx264", package: "libx264-dev", why: "encodes H.264" },
  { option: "libx265", package: "libx265-dev", why: "encodes HEVC" },
  { option: "libvpx", package: "libvpx-dev", why: "encodes VP8 and VP9" },
  { option: "libsvtav1", package: "libsvtav1enc-dev", why: "encodes AV1" },
  { option: "libaom", package: "libaom-dev", why: "encodes AV1 that is small, and AVIF" },
  { option: "libdav1d", package: "libdav1d-dev", why: "decodes AV1" },
  { option: "libtheora", package: "libtheora-dev", why: "encodes Theora" },
  { option: "libxvid", package: "libxvidcore-dev", why: "encodes MPEG-4", isOptional: true },
  { option: "libsnappy", package: "libsnappy-dev", why: "encodes Hap" },
  { option: "libopus", package: "libopus-dev", why: "encodes Opus" },
  { option: "libmp3lame", package: "libmp3lame-dev", why: "encodes MP3" },
  { option: "libtwolame", package: "libtwolame-dev", why: "encodes MP2", isOptional: true },
  { option: "libvorbis", package: "libvorbis-dev", why: "encodes Vorbis" },
  { option: "libspeex", package: "libspeex-dev", why: "encodes Speex" },
  { option: "libgsm", package: "libgsm1-dev", why: "encodes GSM", isOptional: true },
  { option: "libwebp", package: "libwebp-dev", why: "encodes WebP" },
  { option: "libopenjpeg", package: "libopenjp2-7-dev", why: "encodes JPEG 2000" },
  { option: "libass", package: "libass-dev", why: "draws subtitles" },
  { option: "libzvbi", package: "libzvbi-dev", why: "reads teletext", isOptional: true },
  { option: "libfreetype", package: "libfreetype-dev", why: "draws text" },
  { option: "libharfbuzz", package: "libharfbuzz-dev", why: "shapes text" },
  { option: "libfribidi", package: "libfribidi-dev", why: "orders text from right to left" },
  { option: "libfontconfig", package: "libfontconfig-dev", why: "finds fonts" },
  { option: "libzimg", package: "libzimg-dev", why: "zscale, which maps HDR to SDR" },
  { option: "libvidstab", package: "libvidstab-dev", why: "steadies pictures" },
  { option: "libvmaf", package: "libvmaf-dev", why: "measures quality", isOptional: true },
  { option: "libsoxr", package: "libsoxr-dev", why: "resamples sound" },
  { option: "librubberband", package: "librubberband-dev", why: "stretches sound" },
  { option: "libbs2b", package: "libbs2b-dev", why: "mixes for headphones", isOptional: true },
  { option: "libmysofa", package: "libmysofa-dev", why: "places sound around", isOptional: true },
  { option: "zlib", package: "zlib1g-dev", why: "PNG, compressed headers" },
  { option: "bzlib", package: "libbz2-dev", why: "compressed headers of Matroska" },
  { option: "lzma", package: "liblzma-dev", why: "compressed TIFF" },
  { option: "iconv", package: null, why: "subtitles in old character sets" },
]

/**
 * Options of `configure` for fetch-ffmpeg, which downloads a section of a video for yt-dlp: with a
 * network, and only with the formats of video sites.
 */
const FETCH_FLAGS = [
  "--disable-everything",
  "--disable-ffprobe",
  "--enable-openssl",
  "--enable-libx264",
  "--enable-libdav1d",
  "--enable-zlib",
  "--enable-parsers",
  "--enable-bsfs",
  "--enable-protocol=file,pipe,crypto,data,http,https,httpproxy,tcp,tls",
  "--enable-demuxer=aac,ac3,asf,caf,eac3,flac,flv,hls,matroska,mov,mp3,mpegps,mpegts,ogg,wav,webvtt",
  "--enable-muxer=adts,asf,flac,flv,ipod,matroska,matroska_audio,mov,mp3,mp4,mpegts,null,ogg,opus,wav,webm",
  "--enable-decoder=h264,hevc,vp8,vp9,libdav1d,mpeg4,mpeg2video,mpeg1video,h263,flv,vp6,vp6f,mjpeg,theora,wmv2,wmv3,vc1",
  "--enable-decoder=aac,aac_latm,mp3,mp3float,opus,vorbis,flac,alac,ac3,eac3,wmav2,pcm_s16le,pcm_s16be,pcm_u8,pcm_mulaw",
  "--enable-encoder=libx264,aac",
  "--enable-filter=scale,aresample",
]

/** Debian packages that only the build of fetch-ffmpeg needs. */
export const FETCH_FFMPEG_PACKAGES = ["libssl-dev"]

/** Debian packages of compilers and other build tools. */
export const BUILD_TOOL_PACKAGES = "gcc g++ libc6-dev make nasm patch pkg-config xz-utils".split(
  " ",
)

/**
 * Program to build, with its name in the build folder (`target`) and in the folder `bin`
 * (`installed`).
 */
export type FfmpegBuildProgram = {
  target: string
  installed: string
  /** Further arguments of `make`. */
  words: readonly string[]
  leftOut: readonly ComponentOmission[]
}

/** Arguments of `configure`, and the programs to build in this order. */
export type FfmpegBuildPlan = { words: string[]; programs: FfmpegBuildProgram[] }

/**
 * Returns two build plans for Debian's ffmpeg source: ffmpeg with ffprobe, and fetch-ffmpeg.
 */
export function planFfmpegBuilds(
  libraries: readonly FfmpegLibrary[],
  version: string,
): FfmpegBuildPlan[] {
  const own = `--extra-version=${version.split("-").at(-1)}`
  const media = [
    "--disable-network",
    "--disable-devices",
    "--enable-indev=lavfi",
    "--disable-protocols",
    ...Object.keys(FFMPEG_PROTOCOLS).map((name) => `--enable-protocol=${name}`),
    ...libraries.map(({ option }) => `--enable-${option}`),
  ]
  return [
    {
      words: [...CONFIGURE_FLAGS, own, ...media],
      programs: [
        { target: "ffmpeg", installed: "ffmpeg", words: [CPP_LIBRARIES_FIRST], leftOut: [] },
        { target: "ffprobe", installed: "ffprobe", words: [], leftOut: PROBE_OMISSIONS },
      ],
    },
    {
      words: [...CONFIGURE_FLAGS, own, ...FETCH_FLAGS],
      programs: [{ target: "ffmpeg", installed: "fetch-ffmpeg", words: [], leftOut: [] }],
    },
  ]
}
