import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { TEST_BOOT_ID, startCommandTask } from "../../../support/media/bundle.ts"
import type { RunningTask } from "../../../support/media/bundle.ts"
import { makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"

const DETAIL = { frame: 12, time_seconds: 0.5, speed: 1.5, size_bytes: 4096 }
const OUTPUT = { key: "out_1", size_bytes: 3, content_type: "video/mp4" }

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("progress")
})

/** Starts a task on a runner that its dispatcher knows. */
async function start(): Promise<RunningTask> {
  const task = await startCommandTask(caller, { out_1: "a.mp4" })
  await env.DISPATCHER.getByName(task.accountId).tick(task.accountId)
  return task
}

async function report(task: RunningTask, body: object): Promise<number> {
  const whole = { boot: TEST_BOOT_ID, at: new Date().toISOString(), ...body }
  const answer = await task.call("/reports", { method: "POST", body: JSON.stringify(whole) })
  await answer.text()
  return answer.status
}

async function read({ jobId }: RunningTask, room = "jobs"): Promise<Record<string, unknown>> {
  return await (await caller.call(`/${room}/${jobId}`)).json()
}

describe("the progress of a running job", () => {
  it.each(["jobs", "commands"])("is null in /%s if it is unknown, with a detail", async (room) => {
    const task = await start()
    expect(await read(task, room)).not.toHaveProperty("progress_detail")
    expect(await report(task, { kind: "progress", percent: 0, detail: DETAIL })).toBe(200)
    expect(await read(task, room)).toMatchObject({ progress: null, progress_detail: DETAIL })
    const nothing = { frame: null, time_seconds: null, speed: null, size_bytes: null }
    expect(await report(task, { kind: "progress", percent: 0, detail: nothing })).toBe(200)
    expect(await read(task, room)).toMatchObject({ progress: null, progress_detail: nothing })
  })

  it("is a number beside the detail if it is known, and 100 without a detail at the end", async () => {
    const task = await start()
    expect(await report(task, { kind: "progress", percent: 12.34, detail: DETAIL })).toBe(200)
    expect(await read(task)).toMatchObject({ progress: 12.3, progress_detail: DETAIL })
    const result = { kind: "command", outputs: [OUTPUT] }
    expect(await report(task, { kind: "finished", processing_seconds: 1, result })).toBe(200)
    expect(await read(task)).toMatchObject({ progress: 100 })
    expect(await read(task)).not.toHaveProperty("progress_detail")
  })

  it.each(["jobs", "commands"])("is shown per job in the list of %s", async (room) => {
    const tasks = [await start(), await start(), await start()]
    for (const [index, task] of tasks.entries()) {
      if (index > 0) await report(task, { kind: "progress", percent: 10 * index })
    }
    const listed = await (await caller.call(`/${room}?limit=3`)).json<{ id: string }[]>()
    const [none, ten, twenty] = tasks.map(({ jobId }) => listed.find(({ id }) => id === jobId))
    expect(ten).toMatchObject({ progress: 10 })
    expect(twenty).toMatchObject({ progress: 20 })
    expect(none).not.toMatchObject({ progress: 10 })
  })

  it("is refused if its words are malformed", async () => {
    const task = await start()
    const detail = { ...DETAIL, frame: -1 }
    expect(await report(task, { kind: "progress", percent: 1, detail })).toBe(400)
  })
})
