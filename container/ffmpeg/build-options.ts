// What ffmpeg is built with: for media in files, with no code for a network or a device.

/** The Debian suite whose source is built: the one that the image stands on. */
export const SUITE = "trixie"

/** The newest version of Debian's source when this was last looked at; an older one is not built. */
export const SOURCE_VERSION_MIN = "7:7.1.5-0+deb13u1"

/** Words of ffmpeg's configure that name no library. */
export const FLAGS = [
  "--prefix=/usr",
  // As Debian builds: checks of buffers, and addresses that an attacker does not know.
  "--toolchain=hardened",
  "--enable-gpl",
  "--enable-version3",
  "--disable-autodetect",
  "--disable-doc",
  "--disable-debug",
  "--disable-ffplay",
  // What build.ts makes beside the folder of a build: see zeroed.c, and STATIC_LIBRARIES.
  "--extra-libs=../libzeroed.a",
  "--extra-ldexeflags=-Wl,--wrap=av_mallocz",
  "--extra-ldflags=-L../static",
]

/**
 * Libraries that are linked statically where a package has them so. Of libtheoradec, which loads Cairo
 * and X, encoders of Theora need four functions that fill in structures.
 */
export const STATIC_LIBRARIES = ["theoradec"]

/** Protocols by why they are there; a command may name no other but concat. */
export const PROTOCOLS: Record<string, string> = {
  file: "inputs and outputs",
  pipe: "progress, and sound that goes to a reader as it is decoded",
  concat: "inputs that are pieces of one file",
  crypto: "HLS with encrypted segments",
}

/**
 * Libraries look for each other's symbols in the order of this list, thousands in the C++ library and most
 * others in C's: where these come behind fifty others, a tenth of the start goes into passing by.
 */
const MOST_WANTED_FIRST = "LD=gcc -Wl,--push-state,--no-as-needed -lstdc++ -lc -Wl,--pop-state"

/** A list of what ffmpeg has, in a C file that configure writes, and which of its names are left out. */
export type LeftOut = { list: string; names: RegExp }

/**
 * ffprobe reads what ffmpeg reads, and writes nothing: without encoders, muxers, filters and their
 * libraries it starts in a fraction of the time. What decodes by a library has a decoder of ffmpeg's own
 * beside it, but AV1, and teletext, whose streams ffprobe names by their headers.
 */
const PROBE_LEAVES_OUT: readonly LeftOut[] = [
  { list: "libavcodec/codec_list.c", names: /_encoder$|^ff_lib(?!dav1d_)/ },
  { list: "libavformat/muxer_list.c", names: /./ },
  { list: "libavfilter/filter_list.c", names: /./ },
  { list: "libavdevice/indev_list.c", names: /./ },
]

export type Library = {
  /** Its word after `--enable-`. */
  option: string
  /** The Debian package to build with; null: it is part of the C library. */
  package: string | null
  why: string
  /** Where a suite lacks it, ffmpeg is built without. */
  isOptional?: true
}

/** Every library that ffmpeg is linked with. */
export const LIBRARIES: readonly Library[] = [
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
 * Words of configure for the ffmpeg that downloads a part of a video where yt-dlp asks for one: with a
 * network, and with no more than sites of videos have.
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

/** Debian packages of what it needs beside. */
export const FETCH_PACKAGES = ["libssl-dev"]

/** Debian packages of the programs that build it. */
export const BUILD_TOOLS = [
  "gcc",
  "g++",
  "libc6-dev",
  "make",
  "nasm",
  "patch",
  "pkg-config",
  "xz-utils",
]

/** A program by its names in the folder of the build and in `bin`, made once others have been. */
export type Program = {
  made: string
  installed: string
  /** Of make. */
  words: readonly string[]
  leftOut: readonly LeftOut[]
}

/** What a build is made of: the words of configure, and the programs that come of it, in turn. */
export type BuildPlan = { words: string[]; programs: Program[] }

/** The builds for a version of Debian's source: that for media, and that which downloads. */
export function planBuilds(libraries: readonly Library[], version: string): BuildPlan[] {
  const own = `--extra-version=${version.split("-").at(-1)}`
  const media = [
    "--disable-network",
    "--disable-devices",
    "--enable-indev=lavfi",
    "--disable-protocols",
    ...Object.keys(PROTOCOLS).map((name) => `--enable-protocol=${name}`),
    ...libraries.map(({ option }) => `--enable-${option}`),
  ]
  return [
    {
      words: [...FLAGS, own, ...media],
      programs: [
        { made: "ffmpeg", installed: "ffmpeg", words: [MOST_WANTED_FIRST], leftOut: [] },
        { made: "ffprobe", installed: "ffprobe", words: [], leftOut: PROBE_LEAVES_OUT },
      ],
    },
    {
      words: [...FLAGS, own, ...FETCH_FLAGS],
      programs: [{ made: "ffmpeg", installed: "fetch-ffmpeg", words: [], leftOut: [] }],
    },
  ]
}
