/** Channel layouts by the number of channels. ffmpeg cannot mix channels without a layout. */
const LAYOUTS: Record<number, string> = {
  2: "stereo",
  3: "3.0",
  4: "4.0",
  5: "5.0",
  6: "6.0",
  7: "7.0",
  8: "7.1",
}
/** Matches a channel layout without a name, for which ffmpeg prints the names of the channels. */
const NAMED_CHANNELS = /^\d+ channels \((.+)\)$/

/**
 * Returns filters that mix channels with an unknown or unusual layout to stereo. Returns an empty
 * list if ffmpeg can mix the channels itself. `layout` is the channel layout as printed by ffprobe.
 */
export function stereoMixFilters(sound: { channels: number; layout: string | null }): string[] {
  const { channels, layout } = sound
  if (channels < 2) return []
  // Uses the first channel of ambisonic audio, which is omnidirectional, for both sides.
  if (layout?.startsWith("ambisonic")) return [pickChannels(0, 0)]
  const isKnown = channels in LAYOUTS
  const names = NAMED_CHANNELS.exec(layout ?? "")?.[1]?.split("+")
  if (names && isKnown) return [relabel(channels), mixByName(names)]
  const isNamed = layout !== null && layout !== "unknown" && !names
  // Uses the first two channels of a stream with many tracks, which usually contain the main
  // programme.
  return isNamed || isKnown ? [] : [pickChannels(0, 1)]
}

function pickChannels(left: number, right: number): string {
  return `channelmap=map=${left}|${right}:channel_layout=stereo`
}

/**
 * Returns the filter that assigns a known layout to channels, so that other filters accept the
 * channels.
 */
function relabel(channels: number): string {
  const all = Array.from({ length: channels }, (_, at) => at).join("|")
  return `channelmap=map=${all}:channel_layout=${LAYOUTS[channels]}`
}

/**
 * Returns the filter that mixes channels to stereo by their names: left channels to the left side,
 * right channels to the right side, and other channels to both sides. Drops LFE channels.
 */
function mixByName(names: readonly string[]): string {
  const placed = names.map((name, at) => ({ name: name.replace(/@.*$/, ""), at }))
  const full = placed.filter(({ name }) => !name.startsWith("LFE"))
  const audible = full.length > 0 ? full : placed
  const left = audible.filter(({ name }) => !name.endsWith("R"))
  const right = audible.filter(({ name }) => !name.endsWith("L"))
  const sides = [left, right].map((side) => (side.length > 0 ? side : audible))
  const gains = sides.map((side, at) => `c${at}<${side.map((each) => `c${each.at}`).join("+")}`)
  return `pan=stereo|${gains.join("|")}`
}
