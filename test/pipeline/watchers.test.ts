import { describe, expect, it } from "vitest"
import { openWatchers } from "../../src/pipeline/watchers.ts"

describe("watchers", () => {
  it("answer at once whoever has seen nothing", async () => {
    expect(await openWatchers().next("a", null, 60_000)).toMatchObject({ progress: null })
  })

  it("wake those who wait for the job that moved, and no others", async () => {
    const watchers = openWatchers()
    const { moves } = await watchers.next("a", null, 0)
    const other = await watchers.next("b", null, 0)
    const woken = watchers.next("a", { moves }, 60_000)
    const asleep = watchers.next("b", { moves: other.moves }, 30)
    watchers.moved("a")
    expect((await woken).moves).not.toBe(moves)
    expect(await asleep).toEqual(other)
  })

  it("do not miss a move that comes before the wait begins", async () => {
    const watchers = openWatchers()
    const { moves } = await watchers.next("a", null, 0)
    watchers.moved("a")
    expect((await watchers.next("a", { moves }, 60_000)).moves).not.toBe(moves)
  })

  it("wake for progress only those who look at it", async () => {
    const watchers = openWatchers()
    const { moves } = await watchers.next("a", null, 0)
    const looking = watchers.next("a", { moves, percent: 0 }, 60_000)
    const waiting = watchers.next("a", { moves }, 30)
    watchers.progressed("a", { percent: 40 })
    expect(await looking).toEqual({ moves, progress: { percent: 40 } })
    expect((await waiting).moves).toBe(moves)
  })

  it("forget the progress of a job that stopped", async () => {
    const watchers = openWatchers()
    watchers.progressed("a", { percent: 40 })
    watchers.moved("a")
    expect(watchers.progressOf("a")).toEqual({ percent: 40 })
    watchers.stopped("a")
    expect(watchers.progressOf("a")).toBeNull()
  })

  it("wake everybody who knew an earlier memory", async () => {
    const { moves } = await openWatchers().next("a", null, 0)
    expect((await openWatchers().next("a", { moves }, 60_000)).moves).not.toBe(moves)
  })
})
