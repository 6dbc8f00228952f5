import { describe, expect, it } from "vitest"
import { makeCpuScheduler } from "../../../src/accounts/sign-in/passwords.ts"

function takeMany(turns: ReturnType<typeof makeCpuScheduler>, count: number, now: number) {
  return Array.from({ length: count }, () => turns.take(now, 100))
}

describe("work that blocks the isolate", () => {
  it("begins at once up to a burst, and then leaves as much time as it takes", () => {
    const turns = makeCpuScheduler({ burstMs: 300, waitMsMax: 1000 })
    expect(takeMany(turns, 7, 50_000)).toEqual([0, 0, 0, 0, 200, 400, 600])
  })

  it("is refused if its wait would be too long, and takes no turn then", () => {
    const turns = makeCpuScheduler({ burstMs: 0, waitMsMax: 400 })
    expect(takeMany(turns, 6, 50_000)).toEqual([0, 200, 400, null, null, null])
    expect(turns.take(50_200, 100)).toBe(400)
    expect(turns.take(50_200, 100)).toBeNull()
  })

  it("begins at once again after an idle time, with the same burst", () => {
    const turns = makeCpuScheduler({ burstMs: 100, waitMsMax: 1000 })
    takeMany(turns, 5, 50_000)
    expect(takeMany(turns, 4, 90_000)).toEqual([0, 0, 200, 400])
  })
})
