/** Draws that are the same in every run. */
export type Random = {
  /** From 0 to 1, without 1. */
  draw: () => number
  /** From 0 to `below`, without it. */
  whole: (below: number) => number
  /** None of no values. */
  pick: <Value>(values: readonly Value[]) => Value | undefined
}

export function makeRandom(seed: number): Random {
  let state = seed
  function draw(): number {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  function whole(below: number): number {
    return Math.floor(draw() * below)
  }
  return { draw, whole, pick: (values) => values[whole(values.length)] }
}
