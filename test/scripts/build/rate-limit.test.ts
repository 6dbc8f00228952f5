import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { makeRateLimitBinding } from "../../../scripts/start/worker/address-limit-binding.ts"

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: 60_000 }))
afterEach(() => void vi.useRealTimers())

test("the limit counts requests of each key in a period separately", async () => {
  const binding = makeRateLimitBinding({ limit: 2, period: 60 })
  const passed = [
    await binding.limit({ key: "a" }),
    await binding.limit({ key: "a" }),
    await binding.limit({ key: "a" }),
  ]
  expect(passed.map(({ success }) => success)).toEqual([true, true, false])
  expect(await binding.limit({ key: "b", delta: 2 })).toEqual({ success: true })
  expect(await binding.limit({ key: "b" })).toEqual({ success: false })
})

test("the count restarts with the next period", async () => {
  const binding = makeRateLimitBinding({ limit: 1, period: 10 })
  await binding.limit({ key: "a" })
  expect(await binding.limit({ key: "a" })).toEqual({ success: false })
  vi.setSystemTime(70_000)
  expect(await binding.limit({ key: "a" })).toEqual({ success: true })
})
