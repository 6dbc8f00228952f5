import { describe, expect, it } from "vitest"
import { ProgressTracker } from "../../src/scheduler/progress.ts"
import { NEW_JOB_VERSION } from "../../src/bindings/rpc.ts"

type Open = { id: string; weight: number; jobWeight: number }

/** Opens progress over these open tasks; by default jobs `a` and `b` have one each. */
function openOn(tasks = new Map<string, Open[]>()) {
  const one = [{ id: "t", weight: 1, jobWeight: 1 }]
  return new ProgressTracker((jobId) => tasks.get(jobId) ?? one)
}

const task = { id: "t", jobId: "a" }

describe("watchers of progress", () => {
  it("get an immediate answer if they have seen nothing", async () => {
    expect(await openOn().next("a", null, 60_000)).toMatchObject({ progress: null })
  })

  it("wake only for the job that changed", async () => {
    const watchers = openOn()
    const { version } = await watchers.next("a", null, 0)
    const other = await watchers.next("b", null, 0)
    const woken = watchers.next("a", { version }, 60_000)
    const asleep = watchers.next("b", { version: other.version }, 30)
    watchers.jobChanged("a")
    expect((await woken).version).not.toBe(version)
    expect(await asleep).toEqual(other)
  })

  it("do not miss a change before the wait begins", async () => {
    const watchers = openOn()
    const { version } = await watchers.next("a", null, 0)
    watchers.jobChanged("a")
    expect((await watchers.next("a", { version }, 60_000)).version).not.toBe(version)
  })

  it("wake for progress only if they watch it", async () => {
    const watchers = openOn()
    const { version } = await watchers.next("a", null, 0)
    const looking = watchers.next("a", { version, progress: null }, 60_000)
    const waiting = watchers.next("a", { version }, 30)
    watchers.reported(task, { percent: 40 })
    expect(await looking).toMatchObject({ version, progress: { percent: 40 } })
    expect((await waiting).version).toBe(version)
  })

  it("wake for a tool's detail without a percent, and show it", async () => {
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

  it("wake only for possible ends if they watch ends alone", async () => {
    const watchers = openOn()
    const asleep = watchers.next("a", NEW_JOB_VERSION, 30)
    watchers.jobChanged("a")
    watchers.reported(task, { percent: 40 })
    expect((await asleep).endings).toBe("")
    const waiting = watchers.next("a", NEW_JOB_VERSION, 60_000)
    watchers.runEnded(task)
    const { version, endings } = await waiting
    expect(endings).not.toBe("")
    const again = watchers.next("a", { version, endings }, 60_000)
    watchers.mayBeOver("a")
    expect((await again).endings).not.toBe(endings)
  })

  it("get an immediate answer if they missed an end", async () => {
    const watchers = openOn()
    watchers.mayBeOver("a")
    expect((await watchers.next("a", NEW_JOB_VERSION, 60_000)).endings).not.toBe("")
  })

  it("lose the progress of a job whose last task ended", async () => {
    const tasks = new Map<string, Open[]>()
    const watchers = openOn(tasks)
    watchers.reported(task, { percent: 40 })
    watchers.jobChanged("a")
    expect(watchers.of("a")).toEqual({ percent: 40 })
    tasks.set("a", [])
    watchers.runEnded(task)
    expect(watchers.of("a")).toBeNull()
  })

  it("wake if their version is from before a restart", async () => {
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

  it("is the weighted sum of its tasks, and has an estimated end only with the last one", () => {
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

  it("never falls, neither by a lower report nor by a repeated task", () => {
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

  it("counts only known tasks after a loss of memory", () => {
    const { tasks, end } = openJob()
    end("import")
    expect(openOn(tasks).of("a")?.percent).toBeCloseTo(30)
  })
})
