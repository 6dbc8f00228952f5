/** Pseudorandom generator that returns the same values in every run. */
export type RandomGenerator = {
  /** Returns a number from 0 up to, but not including, 1. */
  draw: () => number
  /** Returns an integer from 0 up to, but not including, `below`. */
  whole: (below: number) => number
  /** Returns one of the values, or undefined if there are none. */
  pick: <Value>(values: readonly Value[]) => Value | undefined
}

export function makeRandom(seed: number): RandomGenerator {
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
