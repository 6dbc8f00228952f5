import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import { z } from "zod"
import { submitCommand, waitUntilSuccess } from "../../scripts/cli/client/requests.ts"
import { startWranglerDevService } from "../../scripts/image/service.ts"

const IDLE_SECONDS = 10
/** An object asks after a minute whether its container still has a task. */
const LONGER_SECONDS = 68
const TEST_MS_MAX = 240_000

const job = z.looseObject({ attempts: z.number() })

it(
  "keeps a container while its task runs, and stops it after ten idle seconds",
  { timeout: TEST_MS_MAX },
  async () => {
    await using service = await startWranglerDevService({ RUNNER_INSTANCES: "1" })
    const { caller } = await service.openAccount("idle")
    const id = await submitCommand(caller, {
      ffmpeg_command: `ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t ${LONGER_SECONDS} -c:v mpeg4 {{out_1}}`,
      input_files: {},
      output_files: { out_1: "out.mp4" },
    })
    await waitUntilSuccess(caller, `/v1/commands/${id}`, { pollMs: 500 })
    const endedMs = performance.now()
    const { text } = await caller.ask("GET", `/v1/jobs/${id}`)
    expect(job.parse(JSON.parse(text))).toMatchObject({ attempts: 1 })
    await sleep((IDLE_SECONDS - 5) * 1000)
    expect(await service.containers()).toHaveLength(1)
    while ((await service.containers()).length > 0) {
      expect(performance.now() - endedMs).toBeLessThan((IDLE_SECONDS + 20) * 1000)
      await sleep(500)
    }
  },
)
