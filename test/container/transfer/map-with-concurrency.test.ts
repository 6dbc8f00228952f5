import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { mapWithConcurrency } from "../../../container/transfer/promises.ts"

const never = new AbortController().signal

test("maps items in their order, with no more of them in progress than the limit", async () => {
  let [inProgress, most] = [0, 0]
  const items = [5, 1, 4, 2, 3]
  const values = await mapWithConcurrency(items, { limit: 2, signal: never }, async (item) => {
    inProgress += 1
    most = Math.max(most, inProgress)
    await sleep(item)
    inProgress -= 1
    return item * 10
  })
  expect(values).toEqual([50, 10, 40, 20, 30])
  expect(most).toBe(2)
})

test("maps nothing to nothing", async () => {
  const options = { limit: 2, signal: never }
  expect(await mapWithConcurrency([], options, () => Promise.resolve(1))).toEqual([])
})

test("the first failure aborts the others, and is thrown once they have ended", async () => {
  const ended: string[] = []
  const started: string[] = []
  const items = ["slow", "fails", "fails later", "never starts"]
  const mapping = mapWithConcurrency(items, { limit: 3, signal: never }, async (item, signal) => {
    started.push(item)
    if (item === "fails") {
      await sleep(5)
      throw new Error("first")
    }
    await new Promise((resolve) => signal.addEventListener("abort", resolve))
    await sleep(20)
    ended.push(item)
    if (item === "fails later") throw new Error("second")
  })
  await expect(mapping).rejects.toThrow("first")
  expect(ended.toSorted()).toEqual(["fails later", "slow"])
  expect(started).not.toContain("never starts")
})

test("an abort is thrown by its reason once those in progress have ended", async () => {
  const abort = new AbortController()
  const ended: number[] = []
  const options = { limit: 2, signal: abort.signal }
  const mapping = mapWithConcurrency([1, 2, 3], options, async (item, signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve))
    await sleep(20)
    ended.push(item)
  })
  await sleep(5)
  abort.abort("nobody wants it")
  await expect(mapping).rejects.toBe("nobody wants it")
  expect(ended).toEqual([1, 2])
})

test("nothing starts under a signal that has aborted", async () => {
  let calls = 0
  const options = { limit: 2, signal: AbortSignal.abort("gone") }
  const mapping = mapWithConcurrency([1, 2], options, () => Promise.resolve((calls += 1)))
  await expect(mapping).rejects.toBe("gone")
  expect(calls).toBe(0)
})
