import type { RangeCompression, LoudnessGain } from "./gain.ts"
import type { DecodableAudioStream } from "./normalization-source.ts"

/**
 * Oversampling factor of the limiter. At four times the sample rate, peaks between samples become
 * visible.
 */
const OVERSAMPLING = 4
const OVERSAMPLED_RATE_MAX = 192_000
/** Threshold of the compressor, in dB. Quieter sound counts as noise and is not changed. */
const THRESHOLD_DB = -60
/**
 * Attack and release times in milliseconds, which are slow enough that the compressor does not
 * distort words and notes.
 */
const COMPRESSOR_TIMES = "attack=100:release=1500"
const LIMITER_TIMES = "attack=5:release=50"

/** Channel layouts for streams without a declared layout; the index is the number of channels. */
const USUAL_LAYOUTS = ["", "mono", "stereo", "2.1", "4.0", "5.0", "5.1", "6.1", "7.1"]

/**
 * Returns the audio filters that apply a gain and keep the sample rate and the channels. Returns an
 * empty list for the gain `none`.
 */
export function gainFilters(gain: LoudnessGain, stream: DecodableAudioStream): string[] {
  if (gain.type === "none") return []
  const volume = volumeFilter(gain.gainDb, stream)
  const first = channelLayoutFilters(stream)
  if (gain.type === "linear") return [...first, volume]
  const compressor = gain.compression
    ? loudnessRangeCompressionFilters(gain.compression, stream)
    : []
  return [...first, ...compressor, volume, ...limiterFilters(gain.limitDb, stream)]
}

/**
 * Returns the filter that sets a channel layout for a stream without a layout, since most filters
 * need a layout. Returns an empty list for other streams.
 */
export function channelLayoutFilters({ layout, channels }: DecodableAudioStream): string[] {
  const usual = USUAL_LAYOUTS[channels] ?? ""
  return layout !== null || usual === "" ? [] : [`aformat=channel_layouts=${usual}`]
}

/** Returns the filters that reduce the loudness range of a stream. */
export function loudnessRangeCompressionFilters(
  { levelDb, ratio }: RangeCompression,
  stream: DecodableAudioStream,
): string[] {
  const threshold = amplitudeOf(THRESHOLD_DB)
  const options = `threshold=${threshold}:ratio=${ratio.toFixed(4)}:${COMPRESSOR_TIMES}`
  return [volumeFilter(levelDb, stream), `acompressor=${options}:detection=rms:link=maximum`]
}

/**
 * Returns filters that limit true peaks. The filters oversample the audio, and compensate for the
 * delay of the limiter.
 */
function limiterFilters(
  limitDb: number,
  { rate, channels, ...stream }: DecodableAudioStream,
): string[] {
  const layout = stream.layout ?? USUAL_LAYOUTS[channels] ?? ""
  const factor = [OVERSAMPLING, 2, 1].find((each) => rate * each <= OVERSAMPLED_RATE_MAX) ?? 1
  const layouts = layout === "" ? "" : `:channel_layouts=${layout}`
  return [
    ...(factor > 1 ? [`aformat=sample_rates=${rate * factor}`] : []),
    `alimiter=limit=${amplitudeOf(limitDb)}:level=false:latency=true:${LIMITER_TIMES}`,
    `aformat=sample_rates=${rate}${layouts}`,
  ]
}

function volumeFilter(gainDb: number, { sampleFormat }: DecodableAudioStream): string {
  const isDeep = /^(?:s32|s64|dbl)/.test(sampleFormat)
  return `volume=${gainDb.toFixed(4)}dB:precision=${isDeep ? "double" : "float"}`
}

function amplitudeOf(db: number): string {
  return (10 ** (db / 20)).toFixed(6)
}
