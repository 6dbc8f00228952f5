import type { StreamType } from "./codecs.ts"

/** Codecs that encoders write, for encoders whose name differs from the codec's name. */
const ENCODED_CODECS = new Map(
  Object.entries({
    h264: "libx264 libx264rgb",
    hevc: "libx265",
    vp8: "libvpx",
    vp9: "libvpx-vp9",
    av1: "libaom-av1 libsvtav1",
    mpeg4: "libxvid",
    prores: "prores_ks",
    theora: "libtheora",
    webp: "libwebp",
    flv1: "flv",
    mp3: "libmp3lame",
    opus: "libopus",
    vorbis: "libvorbis",
    subrip: "srt",
    ass: "ssa",
    dvd_subtitle: "dvdsub",
  }).flatMap(([codec, encoders]) => encoders.split(" ").map((name) => [name, codec] as const)),
)

type CodecSupport = { codecs: string; instead: string }

/**
 * Codecs that container formats can hold, by format and medium (video, audio, subtitles), with a
 * remedy for other codecs. A medium is absent from a format that can hold all codecs of the medium.
 */
const SUPPORTED_CODECS: Record<string, Partial<Record<StreamType, CodecSupport>>> = {
  webm: {
    V: { codecs: "vp8 vp9 av1", instead: "use libvpx-vp9, or write an .mkv" },
    A: { codecs: "opus vorbis", instead: "use libopus, or write an .mkv" },
    S: { codecs: "webvtt", instead: "use webvtt, or write an .mkv" },
  },
  mp4: {
    V: {
      codecs: "h264 hevc vp9 av1 mpeg4 mpeg2video mjpeg png",
      instead: "use libx264, or write an .mkv",
    },
    // ffmpeg 7 can write PCM audio into MP4, but ffmpeg 5 cannot.
    A: {
      codecs: "aac mp3 opus vorbis flac ac3 alac mp2 pcm_s16le pcm_s24le",
      instead: "use aac, or write an .mkv",
    },
    S: { codecs: "mov_text dvd_subtitle", instead: "use mov_text, or write an .mkv" },
  },
  mov: {
    A: {
      codecs: "aac mp3 vorbis ac3 alac mp2 pcm_s16le pcm_s24le wmav2",
      instead: "use aac, or write an .mkv",
    },
    S: { codecs: "mov_text", instead: "use mov_text, or write an .mkv" },
  },
  matroska: { S: { codecs: "subrip ass webvtt dvd_subtitle", instead: "use srt or ass" } },
  ipod: { A: { codecs: "aac alac ac3", instead: "use aac, or write an .mka" } },
  gif: { V: { codecs: "gif", instead: "leave it out, or write an .mp4" } },
  mp3: { A: { codecs: "mp3", instead: "use libmp3lame, or write an .mka" } },
  adts: { A: { codecs: "aac", instead: "use aac, or write an .mka" } },
  flac: { A: { codecs: "flac", instead: "use flac, or write an .mka" } },
  ogg: {
    V: { codecs: "theora vp8", instead: "use libtheora, or write an .mkv" },
    A: { codecs: "vorbis opus flac", instead: "use libvorbis or libopus, or write an .mka" },
  },
  opus: { A: { codecs: "opus vorbis flac", instead: "use libopus, or write an .mka" } },
  srt: { S: { codecs: "subrip", instead: "use srt" } },
  webvtt: { S: { codecs: "webvtt", instead: "use webvtt" } },
}

/**
 * Codecs for which SUPPORTED_CODECS is complete, so that a format without such a codec cannot hold
 * it. The check never refuses other codecs.
 */
const KNOWN_CODECS = new Set(
  "h264 hevc vp8 vp9 av1 mpeg4 mpeg2video mjpeg prores theora gif ffv1 rawvideo webp huffyuv dnxhd png flv1 aac mp3 opus vorbis flac ac3 alac wmav2 mp2 pcm_s16le pcm_s24le mov_text subrip ass webvtt dvd_subtitle".split(
    " ",
  ),
)

/**
 * Returns the remedy if a format cannot hold the codec of an encoder. Returns null if the format
 * can hold the codec, or if nothing is known about the format or the codec.
 */
export function findCodecRemedy(muxer: string, medium: StreamType, encoder: string): string | null {
  const codec = ENCODED_CODECS.get(encoder) ?? encoder
  const holds = Object.hasOwn(SUPPORTED_CODECS, muxer)
    ? SUPPORTED_CODECS[muxer]?.[medium]
    : undefined
  if (!holds || !KNOWN_CODECS.has(codec)) return null
  return holds.codecs.split(" ").includes(codec) ? null : holds.instead
}
