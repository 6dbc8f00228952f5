import { expect, it } from "vitest"
import { openRetryWaits } from "../../../src/pipeline/dispatch/retry-waits.ts"

function waitsBy(random: () => number): number[] {
  const next = openRetryWaits(random)
  return Array.from({ length: 9 }, () => next())
}

it("waits grow twofold to a bound, and chance takes up to half of each", () => {
  const longest = [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]
  expect(waitsBy(() => 0)).toEqual(longest)
  expect(waitsBy(() => 1)).toEqual(longest.map((ms) => ms / 2))
  expect(waitsBy(Math.random)).not.toEqual(waitsBy(Math.random))
})
