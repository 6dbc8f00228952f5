import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { RUNNER_BOOT_ID_HEADER } from "../../../src/contract/protocol.ts"
import type { TaskOrder } from "../../../src/contract/task.ts"
import { ENDLESS, processesIn, startHarness, waitFor } from "../harness.ts"
import type { Harness } from "../harness.ts"

const DAY_MS = 24 * 3600 * 1000
let harness: Harness

beforeEach(async () => {
  harness = await startHarness()
})

afterEach(() => harness.close())

function post(order: unknown): Promise<Response> {
  return harness.call("POST", "/tasks", order)
}

async function postEndless(differing: Partial<TaskOrder> = {}): Promise<TaskOrder> {
  const order = harness.order([ENDLESS], differing)
  expect((await post(order)).status).toBe(202)
  return order
}

function workspaceOf(order: TaskOrder): string {
  return join(harness.settings.workDir, `${order.task_id}.${order.fence}`)
}

function untilItRuns(order: TaskOrder): Promise<number[]> {
  return waitFor(async () => {
    const pids = await processesIn(workspaceOf(order))
    return pids.length > 0 && pids
  })
}

function finalReports() {
  return harness.io.reports.filter(({ kind }) => kind !== "started" && kind !== "progress")
}

describe("accepting tasks", () => {
  test("returns the boot id of the process, in the body and in a header", async () => {
    const answer = await post(harness.order([ENDLESS]))
    expect(answer.status).toBe(202)
    expect(await answer.json()).toEqual({ boot: harness.settings.boot })
    expect(answer.headers.get(RUNNER_BOOT_ID_HEADER)).toBe(harness.settings.boot)
  })

  test("accepts a repeat without a second start, during the run and after it", async () => {
    const order = harness.order(["-f lavfi -i color=d=0.2:s=64x36 out_1".split(" ")])
    expect((await post(order)).status).toBe(202)
    expect((await post(order)).status).toBe(202)
    await waitFor(() => finalReports().length > 0)
    expect((await post(order)).status).toBe(202)
    await sleep(300)
    expect(finalReports()).toHaveLength(1)
    const shown = await harness.call("GET", `/tasks/${order.task_id}`)
    expect(await shown.json()).toMatchObject({ fence: 1, state: "done" })
  })

  test("replaces a lower fence by a higher one, and refuses a lower one", async () => {
    const order = await postEndless({ fence: 2 })
    await untilItRuns(order)
    const lower = await post({ ...order, fence: 1 })
    expect(lower.status).toBe(409)
    expect(await lower.json()).toEqual({ error: "stale" })
    const higher = { ...order, fence: 3 }
    expect((await post(higher)).status).toBe(202)
    await untilItRuns(higher)
    expect(await harness.workspaces()).toEqual([`${order.task_id}.3`])
    expect(finalReports()).toEqual([])
  })

  test("refuses an allocation below the highest of its slot", async () => {
    await postEndless({ slot: "slot-1", allocation: 7 })
    const answer = await post(harness.order([ENDLESS], { slot: "slot-1", allocation: 6 }))
    expect(answer.status).toBe(409)
    expect(await answer.json()).toEqual({ error: "stale" })
  })

  test("refuses an allocation far in the future, which makes no later one stale", async () => {
    const slot = "slot-1"
    for (const allocation of [99_999_999_999_999, Date.now() + 2 * DAY_MS]) {
      const answer = await post(harness.order([ENDLESS], { slot, allocation }))
      expect(answer.status).toBe(409)
      expect(await answer.json()).toEqual({ error: "implausible" })
    }
    await postEndless({ slot, allocation: Date.now() })
    // The clocks of a pool and its runner may differ.
    await postEndless({ slot, allocation: Date.now() + DAY_MS / 2 })
  })

  test("returns busy if its capacity is used up", async () => {
    await postEndless()
    await postEndless()
    const answer = await post(harness.order([ENDLESS]))
    expect(answer.status).toBe(409)
    expect(await answer.json()).toEqual({ error: "busy" })
    const health = await harness.call("GET", "/health")
    expect(await health.json()).toMatchObject({
      status: "ok",
      capacity: 2,
      running: 2,
      ffmpeg: expect.stringMatching(/^\d/),
      ffprobe: expect.stringMatching(/^\d/),
    })
  })

  test("refuses an invalid order, and another version of the protocol", async () => {
    const bad = await post({ task_id: "none" })
    expect(bad.status).toBe(400)
    expect(await bad.text()).toContain("task_id")
    const old = await fetch((await harness.call("GET", "/health")).url)
    expect(old.status).toBe(426)
    expect(old.headers.get(RUNNER_BOOT_ID_HEADER)).toBe(harness.settings.boot)
  })
})

describe("ending tasks", () => {
  test("a deletion ends the tool and removes the workspace before its response", async () => {
    const order = await postEndless()
    await untilItRuns(order)
    const path = `/tasks/${order.task_id}`
    const low = await harness.call("DELETE", `${path}?fence=0`)
    expect(low.status).toBe(400)
    const beganMs = performance.now()
    const answer = await harness.call("DELETE", `${path}?fence=1`)
    expect(await answer.json()).toEqual({ killed: true })
    expect(performance.now() - beganMs).toBeLessThan(10_000)
    expect(await processesIn(harness.settings.workDir)).toEqual([])
    expect(await harness.workspaces()).toEqual([])
    expect(finalReports()).toEqual([])
  })

  test("a deletion leaves a run with a higher fence alone", async () => {
    const order = await postEndless({ fence: 5 })
    const answer = await harness.call("DELETE", `/tasks/${order.task_id}?fence=4`)
    expect(await answer.json()).toEqual({ killed: false })
    await untilItRuns(order)
  })

  test("the time limit ends the whole group, and is named as the cause", async () => {
    const order = harness.order([ENDLESS])
    const work = { ...order.work, run_seconds_max: 1 }
    expect(await harness.finish({ ...order, work })).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: { code: "time_limit", message: expect.stringContaining("1 seconds") },
    })
    expect(await processesIn(harness.settings.workDir)).toEqual([])
  })

  test("a 410 response to a report kills the run, which sends no further report", async () => {
    harness.io.intercept = (call) =>
      call.endsWith("/reports") ? new Response(null, { status: 410 }) : null
    const order = await postEndless()
    await waitFor(async () => {
      const shown = await harness.call("GET", `/tasks/${order.task_id}`)
      return (await shown.text()).includes('"done"')
    })
    expect(await harness.workspaces()).toEqual([])
    expect(harness.io.requests.filter(({ call }) => call.endsWith("/reports"))).toHaveLength(1)
  })

  test("a tool that is killed from outside is the service's failure", async () => {
    const order = await postEndless()
    const [pid = 0] = await untilItRuns(order)
    process.kill(pid, "SIGKILL")
    await waitFor(() => finalReports().length > 0)
    expect(finalReports()).toMatchObject([
      { kind: "failed", blame: "ours", failure: { code: "internal" } },
    ])
  })

  test("a tool that crashes is the caller's failure", async () => {
    const order = await postEndless()
    const [pid = 0] = await untilItRuns(order)
    process.kill(pid, "SIGSEGV")
    await waitFor(() => finalReports().length > 0)
    expect(finalReports()).toMatchObject([
      { kind: "failed", blame: "caller", failure: { code: "command_failed" } },
    ])
  })

  test("a shutdown interrupts every run and accepts no more", async () => {
    const order = await postEndless()
    await untilItRuns(order)
    await harness.shutDown()
    expect(finalReports()).toMatchObject([
      { kind: "interrupted", processing_seconds: expect.any(Number) },
    ])
    expect(await harness.workspaces()).toEqual([])
    expect((await post(harness.order([ENDLESS]))).status).toBe(503)
  })
})
