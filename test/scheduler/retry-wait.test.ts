import { expect, it } from "vitest"
import { computePostRetryWaitMs } from "../../src/scheduler/dispatch-task.ts"

function waitsBy(random?: number): number[] {
  return Array.from({ length: 9 }, (_, index) => computePostRetryWaitMs(index + 1, random))
}

it("waits double up to a limit, and jitter shortens each by up to half", () => {
  const longest = [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]
  expect(waitsBy(0)).toEqual(longest)
  expect(waitsBy(1)).toEqual(longest.map((ms) => ms / 2))
  expect(waitsBy()).not.toEqual(waitsBy())
})
