import { renameSync } from "node:fs"
import { chmod, symlink } from "node:fs/promises"
import { join } from "node:path"
import pWaitFor from "p-wait-for"
import { expect, it } from "vitest"
import { z } from "zod"
import { findProgram } from "../../../container/sandbox/system-paths.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { findRunner, killAll } from "../../faults/processes.ts"
import { startService } from "../service.ts"
import { listSupportedTiers } from "../../support/runner/supported-tiers.ts"

const record = z.looseObject({ status: z.string() })

it("reports the cause while the self-test fails, and recovers by itself", async ({ skip }) => {
  skip((await listSupportedTiers()).length === 0, "this machine has no sandbox")
  await using folder = await makeTempFolder("tools")
  await chmod(folder.path, 0o755)
  const link = join(folder.path, "ffmpeg")
  await symlink(findProgram("ffmpeg"), link)
  await using service = await startService({ FFMPEG_PATH: link })
  const key = await service.makeKey("one")
  async function health(): Promise<unknown> {
    const answer = await fetch(`${service.origin}/v1/health`)
    expect(answer.status).toBe(200)
    return await answer.json()
  }
  await expect.poll(health).toEqual({ status: "ok" })

  renameSync(link, `${link}-away`)
  killAll([findRunner(service.pid)])
  await pWaitFor(async () => JSON.stringify(await health()).includes("sandbox_failed"))
  expect(await health()).toEqual({ status: "degraded", reasons: ["sandbox_failed"] })

  const headers = { "x-api-key": key, "content-type": "application/json" }
  const created = await fetch(`${service.origin}/v1/commands`, {
    method: "POST",
    headers,
    body: JSON.stringify({
      ffmpeg_command: "ffmpeg -f lavfi -i testsrc=size=64x64:rate=10 -t 1 {{out_1}}",
      input_files: {},
      output_files: { out_1: "out.mp4" },
    }),
  })
  expect(created.status).toBe(202)
  renameSync(`${link}-away`, link)
  const url = `${service.origin}${new URL(created.headers.get("location") ?? "", service.origin).pathname}`
  await expect
    .poll(async () => record.parse(await (await fetch(url, { headers })).json()).status, {
      timeout: 30_000,
    })
    .toBe("success")
  await expect.poll(health).toEqual({ status: "ok" })
})
