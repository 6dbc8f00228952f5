import { describe, expect, it, vi } from "vitest"
import { openWatchers } from "../../../src/pipeline/dispatch/watchers.ts"

describe("watchers", () => {
  it("answer at once whoever has seen nothing", async () => {
    expect(await openWatchers().next("a", null, 60_000)).toMatchObject({ progress: null })
  })

  it("wake those who wait for the job that changed, and no others", async () => {
    const watchers = openWatchers()
    const { version } = await watchers.next("a", null, 0)
    const other = await watchers.next("b", null, 0)
    const woken = watchers.next("a", { version }, 60_000)
    const asleep = watchers.next("b", { version: other.version }, 30)
    watchers.jobChanged("a")
    expect((await woken).version).not.toBe(version)
    expect(await asleep).toEqual(other)
  })

  it("wait no longer than they were to where the clock is set back", async () => {
    const watchers = openWatchers()
    const { version } = await watchers.next("a", null, 0)
    const asleep = watchers.next("a", { version }, 30)
    const now = Date.now()
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now - 3_600_000)
    expect((await asleep).version).toBe(version)
    clock.mockRestore()
  })

  it("do not miss a change that comes before the wait begins", async () => {
    const watchers = openWatchers()
    const { version } = await watchers.next("a", null, 0)
    watchers.jobChanged("a")
    expect((await watchers.next("a", { version }, 60_000)).version).not.toBe(version)
  })

  it("wake for progress only those who look at it", async () => {
    const watchers = openWatchers()
    const { version } = await watchers.next("a", null, 0)
    const looking = watchers.next("a", { version, percent: 0 }, 60_000)
    const waiting = watchers.next("a", { version }, 30)
    watchers.progressed("a", { percent: 40 })
    expect(await looking).toEqual({ version, progress: { percent: 40 } })
    expect((await waiting).version).toBe(version)
  })

  it("forget the progress of a job whose task ended", async () => {
    const watchers = openWatchers()
    watchers.progressed("a", { percent: 40 })
    watchers.jobChanged("a")
    expect(watchers.progressOf("a")).toEqual({ percent: 40 })
    watchers.taskEnded("a")
    expect(watchers.progressOf("a")).toBeNull()
  })

  it("wake everybody who knew an earlier memory", async () => {
    const { version } = await openWatchers().next("a", null, 0)
    expect((await openWatchers().next("a", { version }, 60_000)).version).not.toBe(version)
  })
})
