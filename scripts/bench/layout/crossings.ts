import { roomOf } from "./source.ts"
import type { CallStep } from "./walk.ts"

/** The first call that leads from a file of one room to a file of another. */
export type Crossing = { from: string; to: string; name: string }

/** The files in which something of a trip runs, in the order in which it comes to them. */
export function filesOf(steps: readonly CallStep[]): string[] {
  return [...new Set(steps.map(({ to }) => to))]
}

/** Each pair of files of two rooms of which one calls the other, once, in the trip's order. */
export function crossingsOf(steps: readonly CallStep[]): Crossing[] {
  const crossings = new Map<string, Crossing>()
  for (const { from, to, name } of steps) {
    const pair = `${from} ${to}`
    if (roomOf(from) === roomOf(to) || crossings.has(pair)) continue
    crossings.set(pair, { from, to, name })
  }
  return [...crossings.values()]
}

/** Crossings after which the next one leads out of the same room again: the trip was back at once. */
export function countReturns(crossings: readonly Crossing[]): number {
  return crossings.filter(({ from }, index) => {
    const next = crossings[index + 1]
    return next !== undefined && roomOf(next.from) === roomOf(from)
  }).length
}
