import type { AudioStream } from "./source.ts"

/** How ffmpeg makes a codec: by which encoder, for how many channels, with which bit rates. */
export type Encoder = {
  name: string
  isLossless: boolean
  channelsMax: number
  /** The least and the most bits a second and channel that a stream gets; null where it has no rate. */
  rates: { min: number; usual: number; max: number } | null
  /** Total rates that there are, where it takes no others; in kbit/s. */
  steps?: readonly number[]
  /** Whether it takes several sample formats, of which the stream's own is to be named. */
  keepsFormat?: boolean
}

const AC3_STEPS = [64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640]
const MP2_STEPS = [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]

const LOSSY = { isLossless: false, channelsMax: 2, rates: rates(32, 96, 192) }
const LOSSLESS = { isLossless: true, channelsMax: 8, rates: null, keepsFormat: true }

const ENCODERS: Record<string, Encoder> = {
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
/** Samples as they are that ffmpeg reads, and does not write. */
const READ_ONLY_PCM = new Set(["pcm_f16le", "pcm_f24le", "pcm_lxf", "pcm_sga"])
const PCM: Omit<Encoder, "name"> = { isLossless: true, channelsMax: 64, rates: null }
/** What two companding laws leave of the samples is close to what they were. */
const COMPANDED = new Set(["pcm_alaw", "pcm_mulaw", "pcm_vidc"])
const DECODED_LOSSLESS =
  /^(?:pcm_|adpcm_|dsd_|dst$|ape$|tak$|als$|shorten$|truehd$|mlp$|wmalossless$|ralf$|mp4als$|atrac3pal$)/

/** ffmpeg's formats of samples as they are. */
const PLAIN_FORMATS: Record<string, string> = { s16: "s16", s24: "s32", s32: "s32", f32: "flt" }

/** How a codec is made; null where ffmpeg cannot make it. */
export function findEncoder(codec: string): Encoder | null {
  if (codec.startsWith("pcm_") && !READ_ONLY_PCM.has(codec)) {
    return { ...PCM, name: codec, isLossless: !COMPANDED.has(codec) }
  }
  return ENCODERS[codec] ?? null
}

/** Whether the sound of a stream is to be kept without loss, where its codec cannot be. */
export function isLosslessSource({ codec, profile }: AudioStream): boolean {
  return DECODED_LOSSLESS.test(codec) || (codec === "dts" && profile.includes("HD MA"))
}

/** The arguments that encode the stream of an output at a position as it was, by a codec. */
export function encoderArguments(codec: string, stream: AudioStream, at: number): string[] {
  const encoder = findEncoder(codec)
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

/** The filter that gives samples the depth that a codec keeps; none where it has no depth. */
export function depthFilters(codec: string, { sampleFormat }: AudioStream): string[] {
  const format = exactFormat(codec, sampleFormat)
  return format === null ? [] : [`aformat=sample_fmts=${format}|${format}p`]
}

/** Whether what is encoded by a codec is what comes out of it, once its samples have its depth. */
export function isExact(codec: string, { sampleFormat }: AudioStream): boolean {
  return exactFormat(codec, sampleFormat) !== null
}

function exactFormat(codec: string, sampleFormat: string): string | null {
  const plain = /^pcm_(s16|s24|s32|f32)[lb]e$/.exec(codec)?.[1]
  if (plain !== undefined) return PLAIN_FORMATS[plain] ?? null
  if (findEncoder(codec)?.keepsFormat !== true) return null
  return /^(u8|s16|s32|flt)p?$/.exec(sampleFormat)?.[1] ?? null
}

/** Kbit/s for a stream: what it had, within what the encoder makes well. */
function rateFor({ rates: limits, steps }: Encoder, stream: AudioStream): number | null {
  if (!limits) return null
  // What has half the rate of samples needs half the bits.
  const share = Math.min(1, stream.rate / 44_100)
  const { channels } = stream
  const had = stream.bitRate === null ? limits.usual * share * channels : stream.bitRate / 1000
  const least = limits.min * share * channels
  const rate = Math.round(Math.min(limits.max * channels, Math.max(least, had)))
  return steps ? (steps.find((each) => each >= rate) ?? steps.at(-1) ?? rate) : rate
}

/** The quality by which Vorbis has about so many kbit/s a channel at 44.1 kHz. */
function vorbisQuality(channelRate: number): string {
  const rates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 250]
  const quality = rates.findIndex((each) => each >= channelRate * 0.95)
  return String(quality === -1 ? rates.length - 1 : quality)
}

function rates(min: number, usual: number, max: number) {
  return { min, usual, max }
}
