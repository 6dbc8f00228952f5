import { expect, test } from "vitest"
import { chooseNormalizedFormat } from "../../../../container/tools/loudness/choose-format.ts"
import { readNormalizationSource } from "../../../../container/tools/loudness/normalization-source.ts"

type Sound = { codec: string; channels?: number; profile?: string; sample_fmt?: string }

function choose(format: string, name: string, sound: Sound, hasVideo = false) {
  const audio = {
    codec_type: "audio",
    codec_name: sound.codec,
    sample_rate: "48000",
    channels: sound.channels ?? 2,
    profile: sound.profile,
    sample_fmt: sound.sample_fmt ?? "s16",
  }
  const video = { codec_type: "video", codec_name: "h264", width: 64, height: 36 }
  const streams = [...(hasVideo ? [video] : []), audio].map((each, index) => ({ index, ...each }))
  const chosen = chooseNormalizedFormat(
    readNormalizationSource({ format_name: format, streams, format: {} }, name),
  )
  return chosen && [chosen.container.name, chosen.extension, ...chosen.codecs].join(" ")
}

const MOV = "mov,mp4,m4a,3gp,3g2,mj2"

test.for<[string, string, Sound, boolean, string]>([
  [MOV, "a.m4a", { codec: "aac" }, false, "m4a m4a aac"],
  [MOV, "a.mov", { codec: "pcm_s24be" }, true, "mov mov pcm_s24be"],
  [MOV, "a.mp4", { codec: "pcm_s16le" }, true, "mp4 mp4 alac"],
  [MOV, "a.bin", { codec: "aac" }, true, "mp4 mp4 aac"],
  [MOV, "a.3gp", { codec: "amr_nb", channels: 1 }, true, "3gp 3gp aac"],
  ["matroska,webm", "a.webm", { codec: "vorbis" }, true, "webm webm vorbis"],
  ["matroska,webm", "a.mkv", { codec: "dts", channels: 6 }, true, "matroska mkv eac3"],
  ["matroska,webm", "a.mkv", { codec: "dts", channels: 8 }, true, "matroska mkv opus"],
  ["matroska,webm", "a.mkv", { codec: "truehd", channels: 8 }, true, "matroska mkv flac"],
  ["matroska,webm", "a.mkv", { codec: "dts", profile: "DTS-HD MA" }, true, "matroska mkv flac"],
  ["wav", "a.wav", { codec: "adpcm_ms" }, false, "wav wav pcm_s16le"],
  ["wav", "a.rf64", { codec: "pcm_s24le" }, false, "wav rf64 pcm_s24le"],
  ["mp3", "a.wav", { codec: "mp3" }, false, "mp3 mp3 mp3"],
  ["amr", "a.amr", { codec: "amr_nb", channels: 1 }, false, "m4a m4a aac"],
  ["ape", "a.ape", { codec: "ape" }, false, "flac flac flac"],
  ["asf", "a.wma", { codec: "wmapro", channels: 6 }, false, "m4a m4a aac"],
  ["mpegts", "a.m2ts", { codec: "dts", channels: 6 }, true, "mpegts m2ts ac3"],
  ["avi", "a.avi", { codec: "adpcm_ms" }, true, "avi avi pcm_s16le"],
])("%s as %s with %o", ([format, name, sound, hasVideo, expected]) => {
  expect(choose(format, name, sound, hasVideo)).toBe(expected)
})
