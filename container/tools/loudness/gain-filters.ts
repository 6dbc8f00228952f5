import type { Compression, Gain } from "./gain.ts"
import type { AudioStream } from "./source.ts"

/** Peaks between samples show at four times the rate of them. */
const OVERSAMPLING = 4
const OVERSAMPLED_RATE_MAX = 192_000
/** What is quieter is not compressed: noise stays where it is. */
const THRESHOLD_DB = -60
/** Slow enough that words and notes keep their shape. */
const COMPRESSOR_TIMES = "attack=100:release=1500"
const LIMITER_TIMES = "attack=5:release=50"

/** The layouts that are taken for those of files that name none, by the number of channels. */
const USUAL_LAYOUTS = ["", "mono", "stereo", "2.1", "4.0", "5.0", "5.1", "6.1", "7.1"]

/** The filters of a gain, for a stream that keeps its rate and its channels; none for no gain. */
export function gainFilters(gain: Gain, stream: AudioStream): string[] {
  if (gain.type === "none") return []
  const volume = volumeFilter(gain.gainDb, stream)
  const first = layoutFilters(stream)
  if (gain.type === "linear") return [...first, volume]
  const compressor = gain.compression ? compressionFilters(gain.compression, stream) : []
  return [...first, ...compressor, volume, ...limiterFilters(gain.limitDb, stream)]
}

/** The filter that names the channels of a stream whose file does not; most filters need that. */
export function layoutFilters({ layout, channels }: AudioStream): string[] {
  const usual = USUAL_LAYOUTS[channels] ?? ""
  return layout !== null || usual === "" ? [] : [`aformat=channel_layouts=${usual}`]
}

/** The filters that narrow the range of a stream. */
export function compressionFilters({ levelDb, ratio }: Compression, stream: AudioStream): string[] {
  const threshold = amplitudeOf(THRESHOLD_DB)
  const options = `threshold=${threshold}:ratio=${ratio.toFixed(4)}:${COMPRESSOR_TIMES}`
  return [volumeFilter(levelDb, stream), `acompressor=${options}:detection=rms:link=maximum`]
}

/** Limits true peaks, at a rate at which they can be seen, and keeps the sound in time. */
function limiterFilters(limitDb: number, { rate, channels, ...stream }: AudioStream): string[] {
  const layout = stream.layout ?? USUAL_LAYOUTS[channels] ?? ""
  const factor = [OVERSAMPLING, 2, 1].find((each) => rate * each <= OVERSAMPLED_RATE_MAX) ?? 1
  const layouts = layout === "" ? "" : `:channel_layouts=${layout}`
  return [
    ...(factor > 1 ? [`aformat=sample_rates=${rate * factor}`] : []),
    `alimiter=limit=${amplitudeOf(limitDb)}:level=false:latency=true:${LIMITER_TIMES}`,
    `aformat=sample_rates=${rate}${layouts}`,
  ]
}

function volumeFilter(gainDb: number, { sampleFormat }: AudioStream): string {
  const isDeep = /^(?:s32|s64|dbl)/.test(sampleFormat)
  return `volume=${gainDb.toFixed(4)}dB:precision=${isDeep ? "double" : "float"}`
}

function amplitudeOf(db: number): string {
  return (10 ** (db / 20)).toFixed(6)
}
