import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { readJobSnapshot } from "../../../src/db/jobs/apply-transition.ts"
import { TEST_BOOT_ID, startCommandTask } from "../../support/media/bundle.ts"
import type { RunningTask } from "../../support/media/bundle.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"

const OUTPUT = { key: "out_1", size_bytes: 3, content_type: "video/mp4" }
const PROBE = { width: 1, height: 1, duration: 1, format_name: "mp4", streams: [], format: {} }

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("reports")
})

async function report(task: RunningTask, result: unknown): Promise<number> {
  const moment = { boot: TEST_BOOT_ID, at: new Date().toISOString() }
  const finished = { kind: "finished", ...moment, processing_seconds: 1, result }
  const answer = await task.call("/reports", { method: "POST", body: JSON.stringify(finished) })
  await answer.text()
  return answer.status
}

function read({ accountId, jobId }: RunningTask) {
  return readJobSnapshot(openAccountDatabases(env, accountId), jobId)
}

describe("a report of a command's end", () => {
  it.each<[string, unknown]>([
    ["no result", undefined],
    ["a result without a kind", { outputs: [OUTPUT] }],
    ["a result of an unknown kind", { kind: "nosuch", outputs: [OUTPUT] }],
    ["the result of another kind of task", { kind: "probe", probe: PROBE }],
    ["no outputs", { kind: "command" }],
    ["invalid outputs", { kind: "command", outputs: [{ ...OUTPUT, size_bytes: -1 }] }],
  ])("with %s gets status 400 and changes nothing", async (_, result) => {
    const task = await startCommandTask(caller, { out_1: "a.mp4" })
    const before = await read(task)
    expect(await report(task, result)).toBe(400)
    expect(await read(task)).toEqual(before)
    // The run continues, and may still succeed.
    expect(await report(task, { kind: "command", outputs: [OUTPUT] })).toBe(200)
    expect((await read(task))?.job.state).toBe("succeeded")
  })

  it("gets status 410 if it is stale, for any result", async () => {
    const task = await startCommandTask(caller, { out_1: "a.mp4" })
    await env.DB.prepare("update tasks set fence = 2 where id = ?").bind(task.taskId).run()
    expect(await report(task, { kind: "probe", probe: PROBE })).toBe(410)
  })
})
