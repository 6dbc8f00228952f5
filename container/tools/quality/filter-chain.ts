/** Options of the filter fps that make it begin at a time, whatever it is given. */
const FPS_START = /^start_time=/

/** The filters of a chain, as ffmpeg separates them: by commas that are not quoted or escaped. */
export function splitFilters(chain: string): string[] {
  const words = chain.match(/(?:\\.|'[^']*'|[^,\\'])+/gs) ?? []
  return words.map((word) => word.trim()).filter((word) => word !== "")
}

/** What chains have in common at their beginning, and what is left of each. */
export function shareFilters(chains: readonly (readonly string[])[]): {
  shared: readonly string[]
  rests: string[][]
} {
  const [first = []] = chains
  const differing = first.findIndex((filter, at) => chains.some((chain) => chain[at] !== filter))
  const length = differing === -1 ? first.length : differing
  return { shared: first.slice(0, length), rests: chains.map((chain) => chain.slice(length)) }
}

/**
 * A filter for frames that begin in the middle of the film. fps would repeat the first of them from
 * its `start_time` on, which else decides nothing: it puts a frame where its own time belongs.
 */
export function fromTheMiddle(filter: string): string {
  const [name, options = ""] = filter.split(/=(.*)/s)
  if (name !== "fps") return filter
  const kept = options.split(":").filter((option) => !FPS_START.test(option))
  return `fps=${kept.join(":")}`
}
