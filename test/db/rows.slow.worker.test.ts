import { expect, it } from "vitest"
import type { TaskOrder } from "../../src/contract/task.ts"
import { makeCaller } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"
import { countStorageRowsWritten, sumWrittenRows } from "../support/db/counted-rows.ts"
import { reportProgress, startFakePlainRunner } from "../support/runner/tiny-runner.ts"
import type { TaskOutcome } from "../support/runner/tiny-runner.ts"

const RUN_SECONDS = 30
/** Time in which the notes of a finished job are written. */
const SETTLE_MS = 6_000
const ROWS_MAX = 20

async function run(caller: TestCaller): Promise<void> {
  const answer = await caller.post("/commands", {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.mp4" },
  })
  const { command_id: id } = await answer.json<{ command_id: string }>()
  const headers = { prefer: `wait=${RUN_SECONDS * 2}` }
  const over = await caller.call(`/commands/${id}`, { headers })
  expect(await over.json()).toMatchObject({ status: "success" })
}

/** Runs a task that reports its progress each second. */
async function work(order: TaskOrder, seconds: number): Promise<TaskOutcome> {
  for (let second = 1; second <= seconds; second += 1) {
    await scheduler.wait(1000)
    await reportProgress(order, (99 * second) / seconds)
  }
  const outputs = [{ key: "out_1", size_bytes: 1, content_type: "video/mp4" }]
  return { outputs: { out_1: "x" }, result: { kind: "command", outputs } }
}

it("all objects together write few rows for a job of 30 s that reports each second", async () => {
  const caller = await makeCaller("rows")
  startFakePlainRunner((order) => work(order, 0))
  await run(caller)
  startFakePlainRunner((order) => work(order, RUN_SECONDS))
  const rows = await countStorageRowsWritten(async () => {
    await run(caller)
    await scheduler.wait(SETTLE_MS)
  })
  expect({ sum: sumWrittenRows(rows), rows: [...rows] }).toMatchObject({
    sum: expect.toSatisfy((sum: number) => sum <= ROWS_MAX),
  })
})
