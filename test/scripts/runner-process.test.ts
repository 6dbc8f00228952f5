import { expect, test } from "vitest"
import { restartDelayMs } from "../../scripts/local/runner-process.ts"

test("a runner that died is started at once, one that keeps dying ever later", () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(restartDelayMs)
  expect(delays).toEqual([0, 0, 200, 400, 800, 1600, 3200, 5000, 5000])
})
