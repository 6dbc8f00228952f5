import { setImmediate as breathe } from "node:timers/promises"
import { bundleKindOf, namesOfPattern } from "../src/contract/bundle.ts"
import type { Playlist } from "./playlist.ts"

/** What is shared out: files by their place in `names`, and what those that are playlists say. */
export type Search = {
  bundles: readonly string[]
  names: readonly string[]
  playlists: ReadonlyMap<number, Playlist>
}

/** Which files a bundle needs, by their place; 1 is yes. */
export type Claim = Uint8Array

/** Places of the files that a playlist names, by its own place. */
type Named = Map<number, Uint16Array>

const NAMES_AT_ONCE = 500

/**
 * What each bundle needs, with what its playlists name, and what those name. Other runs go on in
 * between; null where it is not done in time.
 */
export async function claimFiles(
  { bundles, names, playlists }: Search,
  { signal, untilMs }: { signal: AbortSignal; untilMs: number },
): Promise<Claim[] | null> {
  async function isInTime(): Promise<boolean> {
    await breathe()
    signal.throwIfAborted()
    return performance.now() < untilMs
  }
  async function placesOf(isWanted: (name: string) => boolean): Promise<number[] | null> {
    const places: number[] = []
    for (const [place, name] of names.entries()) {
      if (place % NAMES_AT_ONCE === 0 && !(await isInTime())) return null
      if (isWanted(name)) places.push(place)
    }
    return places
  }
  // A playlist is asked about each name once, however many bundles lead to it.
  const named: Named = new Map()
  for (const [place, { isNaming }] of playlists) {
    const places = await placesOf(isNaming)
    if (!places) return null
    named.set(place, Uint16Array.from(places))
  }
  const claims: Claim[] = []
  for (const bundle of bundles) {
    const isSeries = bundleKindOf(bundle) === "series"
    const own = await placesOf(isSeries ? namesOfPattern(bundle) : (name) => name === bundle)
    if (!own) return null
    claims.push(claim(Uint16Array.from(own), names.length, named))
  }
  return claims
}

function claim(own: Uint16Array, size: number, named: Named): Claim {
  const claimed = new Uint8Array(size)
  const waiting = [own]
  for (let places = waiting.pop(); places; places = waiting.pop()) {
    for (const place of places) {
      if (claimed[place] === 1) continue
      claimed[place] = 1
      const others = named.get(place)
      if (others) waiting.push(others)
    }
  }
  return claimed
}
