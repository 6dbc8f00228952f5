import { expect, test } from "vitest"
import { MicroBatch } from "../../src/scheduler/enqueue.ts"

test("simultaneous calls share one batch, and each waits for it", async () => {
  const done: number[][] = []
  let isDone = false
  const batch = new MicroBatch<number>()
  const seen = [1, 2, 3].map(async (item) => {
    await batch.add(item, async (items) => {
      await scheduler.wait(5)
      done.push([...items])
      isDone = true
    })
    return isDone
  })
  expect(await Promise.all(seen)).toEqual([true, true, true])
  expect(done).toEqual([[1, 2, 3]])
})

test("a call during the work goes into the next batch", async () => {
  const done: number[][] = []
  const batch = new MicroBatch<number>()
  async function call(item: number): Promise<void> {
    await batch.add(item, async (items) => {
      done.push([...items])
      await scheduler.wait(20)
    })
  }
  const first = call(1)
  await scheduler.wait(5)
  await Promise.all([first, call(2), call(3)])
  expect(done).toEqual([[1], [2, 3]])
})

test("every call fails with the work, and the next batch runs", async () => {
  let times = 0
  const batch = new MicroBatch<number>()
  async function call(item: number): Promise<void> {
    await batch.add(item, async () => {
      times += 1
      if (times === 1) throw new Error("the disk is gone")
    })
  }
  const failed = await Promise.allSettled([call(1), call(2)])
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"])
  await call(3)
  expect(times).toBe(2)
})
