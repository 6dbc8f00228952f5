import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { makeBinding } from "../../scripts/local/rate-limit.ts"

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: 60_000 }))
afterEach(() => void vi.useRealTimers())

test("so many pass for a key in a period, and others for another key", async () => {
  const binding = makeBinding({ limit: 2, period: 60 })
  const passed = [
    await binding.limit({ key: "a" }),
    await binding.limit({ key: "a" }),
    await binding.limit({ key: "a" }),
  ]
  expect(passed.map(({ success }) => success)).toEqual([true, true, false])
  expect(await binding.limit({ key: "b", delta: 2 })).toEqual({ success: true })
  expect(await binding.limit({ key: "b" })).toEqual({ success: false })
})

test("the next period begins anew", async () => {
  const binding = makeBinding({ limit: 1, period: 10 })
  await binding.limit({ key: "a" })
  expect(await binding.limit({ key: "a" })).toEqual({ success: false })
  vi.setSystemTime(70_000)
  expect(await binding.limit({ key: "a" })).toEqual({ success: true })
})
