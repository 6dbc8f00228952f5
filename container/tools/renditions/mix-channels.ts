/** ffmpeg's names of layouts by their number of channels, without which it mixes nothing. */
const LAYOUTS: Record<number, string> = {
  2: "stereo",
  3: "3.0",
  4: "4.0",
  5: "5.0",
  6: "6.0",
  7: "7.0",
  8: "7.1",
}
/** A layout that ffmpeg has no name for, with those of its channels. */
const NAMED_CHANNELS = /^\d+ channels \((.+)\)$/

/**
 * The filters that make two channels of those that ffmpeg cannot mix by itself, since their layout is
 * unknown or unusual; none where it can. `layout` is as ffprobe prints it.
 */
export function mixFilters(sound: { channels: number; layout: string | null }): string[] {
  const { channels, layout } = sound
  if (channels < 2) return []
  // The first channel of a sphere of sound is what is heard from everywhere.
  if (layout?.startsWith("ambisonic")) return [pickChannels(0, 0)]
  const isKnown = channels in LAYOUTS
  const names = NAMED_CHANNELS.exec(layout ?? "")?.[1]?.split("+")
  if (names && isKnown) return [relabel(channels), mixByName(names)]
  const isNamed = layout !== null && layout !== "unknown" && !names
  // Of many tracks in one stream the first two are the programme.
  return isNamed || isKnown ? [] : [pickChannels(0, 1)]
}

function pickChannels(left: number, right: number): string {
  return `channelmap=map=${left}|${right}:channel_layout=stereo`
}

/** Gives channels a layout that filters take, whatever theirs is. */
function relabel(channels: number): string {
  const all = Array.from({ length: channels }, (_, at) => at).join("|")
  return `channelmap=map=${all}:channel_layout=${LAYOUTS[channels]}`
}

/** What is on the left goes to the left, what is in the middle to both; effects are left out. */
function mixByName(names: readonly string[]): string {
  const placed = names.map((name, at) => ({ name: name.replace(/@.*$/, ""), at }))
  const full = placed.filter(({ name }) => !name.startsWith("LFE"))
  const heard = full.length > 0 ? full : placed
  const left = heard.filter(({ name }) => !name.endsWith("R"))
  const right = heard.filter(({ name }) => !name.endsWith("L"))
  const sides = [left, right].map((side) => (side.length > 0 ? side : heard))
  const gains = sides.map((side, at) => `c${at}<${side.map((each) => `c${each.at}`).join("+")}`)
  return `pan=stereo|${gains.join("|")}`
}
