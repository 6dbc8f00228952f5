import type { Medium } from "./codecs.ts"

/** Encoders by what they make; those that are not here are unknown to the tables below. */
const MAKES: Record<string, string> = {
  libx264: "h264",
  libx264rgb: "h264",
  h264: "h264",
  libx265: "hevc",
  hevc: "hevc",
  libvpx: "vp8",
  vp8: "vp8",
  "libvpx-vp9": "vp9",
  vp9: "vp9",
  "libaom-av1": "av1",
  libsvtav1: "av1",
  av1: "av1",
  mpeg4: "mpeg4",
  libxvid: "mpeg4",
  mpeg2video: "mpeg2video",
  mjpeg: "mjpeg",
  prores: "prores",
  prores_ks: "prores",
  libtheora: "theora",
  gif: "gif",
  ffv1: "ffv1",
  rawvideo: "rawvideo",
  libwebp: "webp",
  huffyuv: "huffyuv",
  dnxhd: "dnxhd",
  png: "png",
  flv: "flv1",
  aac: "aac",
  libmp3lame: "mp3",
  mp3: "mp3",
  libopus: "opus",
  opus: "opus",
  libvorbis: "vorbis",
  vorbis: "vorbis",
  flac: "flac",
  ac3: "ac3",
  pcm_s16le: "pcm_s16le",
  pcm_s24le: "pcm_s24le",
  alac: "alac",
  wmav2: "wmav2",
  mp2: "mp2",
  mov_text: "mov_text",
  srt: "subrip",
  subrip: "subrip",
  ass: "ass",
  ssa: "ass",
  webvtt: "webvtt",
  dvdsub: "dvd_subtitle",
}

/** What formats hold of a medium, of the codecs above: all that they do, and an encoder that fits. */
const HOLDS: Record<string, Partial<Record<Medium, { codecs: string; instead: string }>>> = {
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
    A: {
      // ffmpeg 5 has no PCM here, and ffmpeg 7 has.
      codecs: "aac mp3 opus vorbis flac ac3 alac mp2 pcm_s16le pcm_s24le",
      instead: "use aac, or write an .mkv",
    },
    S: { codecs: "mov_text dvd_subtitle", instead: "use mov_text, or write an .mkv" },
  },
  mov: {
    V: {
      codecs:
        "h264 hevc av1 mpeg4 mpeg2video mjpeg prores theora gif ffv1 rawvideo huffyuv dnxhd png flv1",
      instead: "use libx264, or write an .mkv",
    },
    A: {
      codecs: "aac mp3 vorbis ac3 alac mp2 pcm_s16le pcm_s24le wmav2",
      instead: "use aac, or write an .mkv",
    },
    S: { codecs: "mov_text", instead: "use mov_text, or write an .mkv" },
  },
  avi: {
    V: {
      codecs:
        "h264 hevc vp8 vp9 av1 mpeg4 mpeg2video mjpeg prores theora gif ffv1 rawvideo huffyuv dnxhd png flv1",
      instead: "use libx264, or write an .mkv",
    },
    A: {
      codecs: "aac mp3 vorbis flac ac3 mp2 pcm_s16le pcm_s24le wmav2",
      instead: "use libmp3lame, or write an .mkv",
    },
  },
  flv: {
    V: { codecs: "h264 hevc vp8 vp9 av1 mpeg4 flv1", instead: "use libx264, or write an .mp4" },
    // Later versions have more of them.
    A: {
      codecs: "aac mp3 opus flac ac3 pcm_s16le",
      instead: "use aac, or write an .mp4",
    },
  },
  wav: {
    A: {
      codecs: "aac mp3 vorbis flac ac3 mp2 pcm_s16le pcm_s24le wmav2",
      instead: "use pcm_s16le, or write an .mka",
    },
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
  oga: { A: { codecs: "vorbis opus flac", instead: "use libvorbis or libopus, or write an .mka" } },
  opus: { A: { codecs: "opus vorbis flac", instead: "use libopus, or write an .mka" } },
  srt: { S: { codecs: "subrip", instead: "use srt" } },
  webvtt: { S: { codecs: "webvtt", instead: "use webvtt" } },
}

/** What to do where a format cannot hold what an encoder makes; null where it may. */
export function refusedBy(muxer: string, medium: Medium, encoder: string): string | null {
  const codec = Object.hasOwn(MAKES, encoder) ? MAKES[encoder] : undefined
  return codec === undefined ? null : copyRefusedBy(muxer, medium, codec)
}

const CODECS = new Set(Object.values(MAKES))

/** What to do where a format cannot hold a codec, by the name that ffprobe has for it; null where it may. */
export function copyRefusedBy(muxer: string, medium: Medium, codec: string): string | null {
  const holds = Object.hasOwn(HOLDS, muxer) ? HOLDS[muxer]?.[medium] : undefined
  if (!holds || !CODECS.has(codec)) return null
  return holds.codecs.split(" ").includes(codec) ? null : holds.instead
}
