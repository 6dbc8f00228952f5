import type { DecodableAudioStream } from "./normalization-source.ts"

/** Audio encoder of ffmpeg, with its maximum number of channels and its bitrates. */
export type AudioEncoder = {
  name: string
  isLossless: boolean
  channelsMax: number
  /**
   * Minimum, usual and maximum bitrate of a channel in kbit/s; null for an encoder without a
   * bitrate setting.
   */
  rates: { min: number; usual: number; max: number } | null
  /** Total bitrates in kbit/s, for an encoder that supports only certain bitrates. */
  steps?: readonly number[]
  /**
   * Whether the encoder supports several sample formats. The sample format of the stream is then
   * kept.
   */
  keepsFormat?: boolean
}

const AC3_STEPS = [64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640]
const MP2_STEPS = [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]

const LOSSY = { isLossless: false, channelsMax: 2, rates: rates(32, 96, 192) }
const LOSSLESS = { isLossless: true, channelsMax: 8, rates: null, keepsFormat: true }

const ENCODERS: Record<string, AudioEncoder> = {
  aac: { ...LOSSY, name: "aac", channelsMax: 8, rates: rates(64, 96, 256) },
  mp3: { ...LOSSY, name: "libmp3lame", rates: rates(32, 96, 160) },
  opus: { ...LOSSY, name: "libopus", channelsMax: 8, rates: rates(32, 64, 256) },
  vorbis: { ...LOSSY, name: "libvorbis", channelsMax: 8, rates: rates(32, 80, 250) },
  ac3: { ...LOSSY, name: "ac3", channelsMax: 6, rates: rates(64, 96, 320), steps: AC3_STEPS },
  eac3: { ...LOSSY, name: "eac3", channelsMax: 6, rates: rates(64, 96, 320) },
  mp2: { ...LOSSY, name: "mp2", rates: rates(64, 96, 192), steps: MP2_STEPS },
  wmav1: { ...LOSSY, name: "wmav1", rates: rates(48, 80, 160) },
  wmav2: { ...LOSSY, name: "wmav2", rates: rates(48, 80, 160) },
  speex: { ...LOSSY, name: "libspeex", rates: rates(24, 32, 44) },
  flac: { ...LOSSLESS, name: "flac" },
  alac: { ...LOSSLESS, name: "alac" },
  wavpack: { ...LOSSLESS, name: "wavpack" },
  tta: { ...LOSSLESS, name: "tta" },
}
/** PCM codecs that ffmpeg can decode and cannot encode. */
const READ_ONLY_PCM = new Set(["pcm_f16le", "pcm_f24le", "pcm_lxf", "pcm_sga"])
const PCM: Omit<AudioEncoder, "name"> = { isLossless: true, channelsMax: 64, rates: null }
/** Companded PCM codecs, which are lossy unlike other PCM codecs. */
const COMPANDED = new Set(["pcm_alaw", "pcm_mulaw", "pcm_vidc"])
const DECODED_LOSSLESS =
  /^(?:pcm_|adpcm_|dsd_|dst$|ape$|tak$|als$|shorten$|truehd$|mlp$|wmalossless$|ralf$|mp4als$|atrac3pal$)/

/**
 * Sample formats of ffmpeg, by the sample type in the name of a PCM codec, such as `s24` in
 * `pcm_s24le`.
 */
const PLAIN_FORMATS: Record<string, string> = { s16: "s16", s24: "s32", s32: "s32", f32: "flt" }

/** Returns ffmpeg's encoder for an audio codec; null if ffmpeg has no encoder for the codec. */
export function findAudioEncoder(codec: string): AudioEncoder | null {
  if (codec.startsWith("pcm_") && !READ_ONLY_PCM.has(codec)) {
    return { ...PCM, name: codec, isLossless: !COMPANDED.has(codec) }
  }
  return ENCODERS[codec] ?? null
}

/**
 * Reports whether audio should be converted to a lossless codec if its own codec cannot be kept.
 * This applies to lossless codecs and to codecs that are similar to PCM.
 */
export function needsLosslessEncoder({ codec, profile }: DecodableAudioStream): boolean {
  return DECODED_LOSSLESS.test(codec) || (codec === "dts" && profile.includes("HD MA"))
}

/** Returns the arguments of ffmpeg that encode the audio stream at position `at` of an output. */
export function audioEncoderArguments(
  codec: string,
  stream: DecodableAudioStream,
  at: number,
): string[] {
  const encoder = findAudioEncoder(codec)
  if (!encoder) return []
  const rate = rateFor(encoder, stream)
  const isVariable = codec === "vorbis" && rate !== null
  return [
    `-c:a:${at}`,
    encoder.name,
    ...(isVariable ? [`-q:a:${at}`, vorbisQuality(rate / stream.channels)] : []),
    ...(rate !== null && !isVariable ? [`-b:a:${at}`, `${rate}k`] : []),
  ]
}

/**
 * Returns the filter that converts samples to the bit depth that a codec stores. Returns an empty
 * list if the codec does not store samples exactly, such as a lossy codec.
 */
export function bitDepthFilters(codec: string, { sampleFormat }: DecodableAudioStream): string[] {
  const format = exactSampleFormat(codec, sampleFormat)
  return format === null ? [] : [`aformat=sample_fmts=${format}|${format}p`]
}

/**
 * Reports whether a codec stores samples exactly, after the samples are converted to the codec's
 * bit depth.
 */
export function doesCodecStoreSamplesExactly(
  codec: string,
  { sampleFormat }: DecodableAudioStream,
): boolean {
  return exactSampleFormat(codec, sampleFormat) !== null
}

function exactSampleFormat(codec: string, sampleFormat: string): string | null {
  const plain = /^pcm_(s16|s24|s32|f32)[lb]e$/.exec(codec)?.[1]
  if (plain !== undefined) return PLAIN_FORMATS[plain] ?? null
  if (findAudioEncoder(codec)?.keepsFormat !== true) return null
  return /^(u8|s16|s32|flt)p?$/.exec(sampleFormat)?.[1] ?? null
}

/**
 * Returns the bitrate for an audio stream in kbit/s: the bitrate of the source, within the limits
 * of the encoder. Returns null for an encoder without a bitrate setting.
 */
function rateFor(
  { rates: limits, steps }: AudioEncoder,
  stream: DecodableAudioStream,
): number | null {
  if (!limits) return null
  // Reduces the usual and the minimum bitrate in proportion, if the sample rate is below 44.1 kHz.
  const share = Math.min(1, stream.rate / 44_100)
  const { channels } = stream
  const had = stream.bitRate === null ? limits.usual * share * channels : stream.bitRate / 1000
  const least = limits.min * share * channels
  const rate = Math.round(Math.min(limits.max * channels, Math.max(least, had)))
  return steps ? (steps.find((each) => each >= rate) ?? steps.at(-1) ?? rate) : rate
}

/**
 * Returns the quality setting of Vorbis that results in about `channelRate` kbit/s for each channel
 * at 44.1 kHz.
 */
function vorbisQuality(channelRate: number): string {
  const rates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 250]
  const quality = rates.findIndex((each) => each >= channelRate * 0.95)
  return String(quality === -1 ? rates.length - 1 : quality)
}

function rates(min: number, usual: number, max: number) {
  return { min, usual, max }
}
