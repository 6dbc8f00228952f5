import { expect, it } from "vitest"
import { readRunnerLine } from "../../scripts/local/runner-line.ts"
import { logLine } from "../../src/contract/log-line.ts"
import { openEvents } from "../faults/events.ts"

const RUN = { job_id: "a job", task_id: "a task", fence: 2 }

function written(part: "runner" | "worker", facts: object): string {
  return logLine({ part, level: "info", event: "task.ended" }, { ...facts })
}

it("what a runner logs of a run is read with its time", () => {
  const before = Date.now()
  const read = readRunnerLine(written("runner", { ...RUN, processing_seconds: 1.5 }))
  expect(read).toMatchObject({ event: "task.ended", jobId: "a job", fence: 2 })
  expect(read?.processingSeconds).toBe(1.5)
  expect(read?.atMs).toBeGreaterThanOrEqual(before)
})

it("other lines say nothing of a run", () => {
  expect(readRunnerLine(written("worker", RUN))).toBeNull()
  expect(readRunnerLine(written("runner", {}))).toBeNull()
  expect(readRunnerLine("Lathe serves")).toBeNull()
})

it("those who await an event of a job hear of it by the log", async () => {
  const events = openEvents()
  events.read(written("runner", RUN))
  const said = await events.when("a job", ({ event }) => event === "task.ended", 1000)
  expect(said.fence).toBe(2)
})
