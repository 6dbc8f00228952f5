import { setImmediate as yieldToEventLoop } from "node:timers/promises"
import { bundleKindOf, namesOfPattern } from "../../src/contract/bundle.ts"
import type { Playlist } from "./playlist.ts"

/** What is assigned: files by their index in `names`, and the contents of those that are playlists. */
export type FileSearch = {
  bundles: readonly string[]
  names: readonly string[]
  playlists: ReadonlyMap<number, Playlist>
}

/** Which files belong to a bundle, by their index; 1 means yes. */
export type FileAssignment = Uint8Array

/** Indexes of the files that a playlist refers to, by the playlist's own index. */
type References = Map<number, Uint16Array>

const NAMES_PER_TURN = 500

/**
 * Assigns to each bundle its own files, those that its playlists refer to, and so on; a file may
 * belong to several. Yields to the event loop in between; null where it does not finish in time.
 */
export async function assignFiles(
  { bundles, names, playlists }: FileSearch,
  { signal, untilMs }: { signal: AbortSignal; untilMs: number },
): Promise<FileAssignment[] | null> {
  async function isInTime(): Promise<boolean> {
    await yieldToEventLoop()
    signal.throwIfAborted()
    return performance.now() < untilMs
  }
  async function findIndexes(isWanted: (name: string) => boolean): Promise<number[] | null> {
    const indexes: number[] = []
    for (const [index, name] of names.entries()) {
      if (index % NAMES_PER_TURN === 0 && !(await isInTime())) return null
      if (isWanted(name)) indexes.push(index)
    }
    return indexes
  }
  // Each playlist is matched with each name once, however many bundles refer to it.
  const references: References = new Map()
  for (const [index, { isNaming }] of playlists) {
    const indexes = await findIndexes(isNaming)
    if (!indexes) return null
    references.set(index, Uint16Array.from(indexes))
  }
  const assignments: FileAssignment[] = []
  for (const bundle of bundles) {
    const isSeries = bundleKindOf(bundle) === "series"
    const own = await findIndexes(isSeries ? namesOfPattern(bundle) : (name) => name === bundle)
    if (!own) return null
    assignments.push(followReferences(Uint16Array.from(own), names.length, references))
  }
  return assignments
}

function followReferences(own: Uint16Array, size: number, references: References): FileAssignment {
  const assigned = new Uint8Array(size)
  const pending = [own]
  for (let indexes = pending.pop(); indexes; indexes = pending.pop()) {
    for (const index of indexes) {
      if (assigned[index] === 1) continue
      assigned[index] = 1
      const others = references.get(index)
      if (others) pending.push(others)
    }
  }
  return assigned
}
