import { describe, expect, it, vi } from "vitest"
import { ProgressTracker } from "../../../src/pipeline/dispatch/progress.ts"
import { NO_ENDINGS } from "../../../src/rpc.ts"

type Open = { id: string; weight: number; jobWeight: number }

/** Progress of jobs whose open tasks are these; `a` and `b` have one each where nothing is said. */
function openOn(tasks = new Map<string, Open[]>()) {
  const one = [{ id: "t", weight: 1, jobWeight: 1 }]
  return new ProgressTracker((jobId) => tasks.get(jobId) ?? one)
}

const task = { id: "t", jobId: "a" }

describe("watchers of progress", () => {
  it("answer at once whoever has seen nothing", async () => {
    expect(await openOn().next("a", null, 60_000)).toMatchObject({ progress: null })
  })

  it("wake those who wait for the job that changed, and no others", async () => {
    const watchers = openOn()
    const { version } = await watchers.next("a", null, 0)
    const other = await watchers.next("b", null, 0)
    const woken = watchers.next("a", { version }, 60_000)
    const asleep = watchers.next("b", { version: other.version }, 30)
    watchers.jobChanged("a")
    expect((await woken).version).not.toBe(version)
    expect(await asleep).toEqual(other)
  })

  it("wait no longer than they were to where the clock is set back", async () => {
    const watchers = openOn()
    const { version } = await watchers.next("a", null, 0)
    const asleep = watchers.next("a", { version }, 30)
    const now = Date.now()
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now - 3_600_000)
    expect((await asleep).version).toBe(version)
    clock.mockRestore()
  })

  it("do not miss a change that comes before the wait begins", async () => {
    const watchers = openOn()
    const { version } = await watchers.next("a", null, 0)
    watchers.jobChanged("a")
    expect((await watchers.next("a", { version }, 60_000)).version).not.toBe(version)
  })

  it("wake for progress only those who look at it", async () => {
    const watchers = openOn()
    const { version } = await watchers.next("a", null, 0)
    const looking = watchers.next("a", { version, progress: null }, 60_000)
    const waiting = watchers.next("a", { version }, 30)
    watchers.reported(task, { percent: 40 })
    expect(await looking).toMatchObject({ version, progress: { percent: 40 } })
    expect((await waiting).version).toBe(version)
  })

  it("wake for what a tool says where no percent is known, and show it", async () => {
    const watchers = openOn()
    const detail = { frame: 1, time_seconds: 0.5, speed: 2, size_bytes: 10 }
    watchers.reported(task, { percent: 0, detail })
    const { version, progress } = await watchers.next("a", null, 0)
    expect(progress).toEqual({ percent: 0, detail })
    const same = watchers.next("a", { version, progress }, 30)
    expect(await same).toMatchObject({ progress: { detail } })
    const looking = watchers.next("a", { version, progress }, 60_000)
    watchers.reported(task, { percent: 0, detail: { ...detail, frame: 2 } })
    expect(await looking).toMatchObject({ version, progress: { percent: 0, detail: { frame: 2 } } })
    watchers.runEnded(task)
    expect(watchers.of("a")).toBeNull()
  })

  it("wake those who wait for ends alone when something may be over, and for nothing else", async () => {
    const watchers = openOn()
    const asleep = watchers.next("a", NO_ENDINGS, 30)
    watchers.jobChanged("a")
    watchers.reported(task, { percent: 40 })
    expect((await asleep).endings).toBe("")
    const waiting = watchers.next("a", NO_ENDINGS, 60_000)
    watchers.runEnded(task)
    const { version, endings } = await waiting
    expect(endings).not.toBe("")
    const again = watchers.next("a", { version, endings }, 60_000)
    watchers.mayBeOver("a")
    expect((await again).endings).not.toBe(endings)
  })

  it("answer at once who knows of no ends where there was one before", async () => {
    const watchers = openOn()
    watchers.mayBeOver("a")
    expect((await watchers.next("a", NO_ENDINGS, 60_000)).endings).not.toBe("")
  })

  it("forget the progress of a job whose last task ended", async () => {
    const tasks = new Map<string, Open[]>()
    const watchers = openOn(tasks)
    watchers.reported(task, { percent: 40 })
    watchers.jobChanged("a")
    expect(watchers.of("a")).toEqual({ percent: 40 })
    tasks.set("a", [])
    watchers.runEnded(task)
    expect(watchers.of("a")).toBeNull()
  })

  it("wake everybody who knew an earlier memory", async () => {
    const { version } = await openOn().next("a", null, 0)
    expect((await openOn().next("a", { version }, 60_000)).version).not.toBe(version)
  })
})

describe("the progress of a job of several tasks", () => {
  const bringIn = { id: "import", weight: 30, jobWeight: 100 }
  const probe = { id: "probe", weight: 1, jobWeight: 100 }
  const command = { id: "command", weight: 69, jobWeight: 100 }

  function openJob() {
    const tasks = new Map([["a", [bringIn, probe, command]]])
    const watchers = openOn(tasks)
    return {
      watchers,
      report: (id: string, percent: number) =>
        watchers.reported({ id, jobId: "a" }, { percent, etaSeconds: 5 }),
      end: (id: string) => {
        tasks.set(
          "a",
          (tasks.get("a") ?? []).filter((each) => each.id !== id),
        )
        watchers.runEnded({ id, jobId: "a" })
      },
      tasks,
    }
  }

  it("is the sum of theirs, each by its weight, and says when it ends with the last alone", () => {
    const { watchers, report, end } = openJob()
    report("import", 50)
    expect(watchers.of("a")).toEqual({ percent: 15 })
    end("import")
    expect(watchers.of("a")?.percent).toBeCloseTo(30)
    end("probe")
    expect(watchers.of("a")?.percent).toBeCloseTo(31)
    report("command", 10)
    expect(watchers.of("a")?.percent).toBeCloseTo(37.9)
    expect(watchers.of("a")?.etaSeconds).toBe(5)
    report("command", 100)
    expect(watchers.of("a")?.percent).toBe(99)
    end("command")
    expect(watchers.of("a")).toBeNull()
  })

  it("never falls: not by a report of less, nor where a task is done again", () => {
    const { watchers, report, end } = openJob()
    end("import")
    end("probe")
    report("command", 50)
    watchers.runEnded({ id: "command", jobId: "a" })
    expect(watchers.of("a")).toEqual({ percent: 65.5 })
    report("command", 10)
    expect(watchers.of("a")?.percent).toBe(65.5)
    report("command", 60)
    expect(watchers.of("a")?.percent).toBeCloseTo(72.4)
  })

  it("is what is done where the memory of the rest was lost", () => {
    const { tasks, end } = openJob()
    end("import")
    expect(openOn(tasks).of("a")?.percent).toBeCloseTo(30)
  })
})
