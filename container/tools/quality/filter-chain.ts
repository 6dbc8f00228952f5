/** What chains of filters have in common at their beginning, and what is left of each. */
export function shareFilters(chains: readonly (readonly string[])[]): {
  shared: readonly string[]
  rests: string[][]
} {
  const [first = []] = chains
  const differing = first.findIndex((filter, at) => chains.some((chain) => chain[at] !== filter))
  const length = differing === -1 ? first.length : differing
  return { shared: first.slice(0, length), rests: chains.map((chain) => chain.slice(length)) }
}
