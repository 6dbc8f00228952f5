import type { Sources } from "./source.ts"

/** Groups of files that import each other, types included, each in the order of its paths. */
export function findCycles(sources: Sources): string[][] {
  const reached = new Map([...sources.keys()].map((path) => [path, reachFrom(sources, path)]))
  const grouped = new Set<string>()
  const cycles: string[][] = []
  for (const [path, below] of reached) {
    if (grouped.has(path) || !below.has(path)) continue
    const cycle = [...below].filter((other) => reached.get(other)?.has(path)).toSorted()
    for (const member of cycle) grouped.add(member)
    cycles.push(cycle)
  }
  return cycles
}

/** The files that one leads to; itself only where it is part of a cycle. */
function reachFrom(sources: Sources, path: string): Set<string> {
  const reached = new Set<string>()
  const waiting = [path]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const dependency of sources.get(next)?.dependencies ?? []) {
      if (reached.has(dependency) || !sources.has(dependency)) continue
      reached.add(dependency)
      waiting.push(dependency)
    }
  }
  return reached
}
