import { expect, test, vi } from "vitest"
import { startPeriodicSweeps } from "../../../scripts/start/service.ts"

test("the sweep runs at once, again after a failure, and not after the stop", async () => {
  const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined)
  const sweep = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error("no such table"))
  const clock = startPeriodicSweeps(sweep, 5)
  expect(sweep).toHaveBeenCalledTimes(1)
  await expect.poll(() => sweep.mock.calls.length).toBeGreaterThan(2)
  await clock.stop()
  const calls = sweep.mock.calls.length
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(sweep).toHaveBeenCalledTimes(calls)
  expect(complaints).toHaveBeenCalledTimes(1)
})

test("a stop neither waits for a running sweep nor logs it", async () => {
  const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined)
  const clock = startPeriodicSweeps(async (stopping) => {
    await new Promise((_, reject) => {
      stopping.addEventListener("abort", () => reject(new Error("The wait was ended.")))
    })
  }, 5)
  await clock.stop()
  expect(complaints).not.toHaveBeenCalled()
})
