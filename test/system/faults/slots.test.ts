import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import { z } from "zod"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const created = z.looseObject({ command_id: z.string(), status: z.string().optional() })

/** Asks for a picture of so many seconds, made as slowly as it would be shown. */
async function encode(service: TestService, key: string, seconds: number, prefer = "") {
  const answer = await fetch(`${service.origin}/v1/commands`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json", prefer },
    body: JSON.stringify({
      ffmpeg_command: `ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t ${seconds} {{out_1}}`,
      input_files: {},
      output_files: { out_1: "out.mp4" },
    }),
  })
  return created.parse(await answer.json())
}

it("gives no slot to an account whose waiting job was canceled", async () => {
  await using service = await startService({ RUNNER_CAPACITY: "1" })
  const [one, other] = await Promise.all([service.makeKey("one"), service.makeKey("other")])
  const first = encode(service, one, 2, "wait=20")
  await sleep(500)
  const { command_id } = await encode(service, other, 2)
  await sleep(500)
  const canceled = await fetch(`${service.origin}/v1/jobs/${command_id}/cancel`, {
    method: "POST",
    headers: { "x-api-key": other },
  })
  expect(canceled.status).toBe(200)
  expect(await first).toMatchObject({ status: "success" })
  expect(await encode(service, one, 1, "wait=10")).toMatchObject({ status: "success" })
})
