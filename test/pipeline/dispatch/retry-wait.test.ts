import { expect, it } from "vitest"
import { retryWaitMs } from "../../../src/pipeline/dispatch/dispatch-task.ts"

function waitsBy(random?: number): number[] {
  return Array.from({ length: 9 }, (_, index) => retryWaitMs(index + 1, random))
}

it("waits grow twofold to a bound, and chance takes up to half of each", () => {
  const longest = [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]
  expect(waitsBy(0)).toEqual(longest)
  expect(waitsBy(1)).toEqual(longest.map((ms) => ms / 2))
  expect(waitsBy()).not.toEqual(waitsBy())
})
