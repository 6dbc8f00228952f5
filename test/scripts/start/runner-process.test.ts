import { expect, test } from "vitest"
import { computeRestartDelayMs } from "../../../scripts/start/runner-process.ts"

test("a dead runner restarts at once, and after repeated deaths with growing delays", () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(computeRestartDelayMs)
  expect(delays).toEqual([0, 0, 200, 400, 800, 1600, 3200, 5000, 5000])
})
