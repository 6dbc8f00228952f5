import { afterAll, beforeAll, expect, test } from "vitest"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { startServiceProcess } from "../../../scripts/cli/service-process.ts"
import type { ServiceProcess } from "../../../scripts/cli/service-process.ts"
import { collectLines } from "./log-lines.ts"
import { openSlowUpload } from "../media/slow-upload.ts"
import { countInterruptedTasks } from "./state-rows.ts"

/** A runner whose last report nobody takes gives up after 9 seconds, and is killed after 10. */
const GIVEN_UP_MS = 9000

const opened = new AsyncDisposableStack()
let service: ServiceProcess
let stateDir: string

beforeAll(async () => {
  stateDir = opened.use(await makeTempFolder("stopping")).path
  service = opened.use(await startServiceProcess({ stateDir }))
})

afterAll(async () => {
  await opened.disposeAsync()
})

test("SIGTERM ends the service as soon as the Worker knows that the run was interrupted", async () => {
  const key = await service.makeKey("stopping")
  const printed = collectLines(service)
  function findEvent(event: string) {
    return printed.entries().find((entry) => entry.event === event)
  }
  const created = await fetch(`${service.origin}/v1/commands`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({
      ffmpeg_command: "ffmpeg -re -f lavfi -i testsrc2=s=320x240 -t 250 -c:v mpeg4 {{out_1}}",
      output_files: { out_1: "long.mp4" },
    }),
  })
  expect(created.status).toBe(202)
  const upload = await openSlowUpload(service.origin, { key })
  await upload.send("the first bytes of a file")
  await expect.poll(() => findEvent("process.started"), { timeout: 20_000 }).toBeDefined()

  const beganMs = performance.now()
  process.kill(service.pid, "SIGTERM")
  await service[Symbol.asyncDispose]()
  const tookMs = performance.now() - beganMs

  expect(findEvent("task.ended")).toMatchObject({ ending: "interrupted" })
  expect(countInterruptedTasks(stateDir)).toBe(1)
  expect(tookMs).toBeLessThan(GIVEN_UP_MS)
  // The connection is closed.
  expect((await upload.answered).status).not.toBe(201)
})
