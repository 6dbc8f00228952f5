import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { settleTask } from "../../src/jobs/settle/settle.ts"
import type { TerminalReport } from "../../src/jobs/settle/transitions.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { readJobSnapshot } from "../../src/db/jobs/apply-transition.ts"
import { claimTask } from "../../src/db/jobs/tasks.ts"
import { readDeliveryBody } from "../../src/db/values/hydrate.ts"
import { findCallerAccountId } from "../support/media/bundle.ts"
import { makeCaller } from "../support/caller.ts"
import { readStoredWebhook } from "../support/stored-webhook.ts"

/** Uploads a file with a webhook and settles its probe as a runner would. */
async function settledFile(streams: Record<string, unknown>[]) {
  const caller = await makeCaller(crypto.randomUUID())
  const body = new FormData()
  body.append("file", new File(["x"], "clip.mp4"))
  body.append("webhook", "https://receiver.example/")
  const created = await caller.call("/files", { method: "POST", body })
  const { id: jobId } = await created.json<{ id: string }>()
  const accountId = await findCallerAccountId(caller)
  const database = openAccountDatabases(env, accountId)
  const snapshot = await readJobSnapshot(database, jobId)
  const { id: taskId = "" } = snapshot?.tasks[0] ?? {}
  const claimed = await claimTask(database, {
    taskId,
    jobId,
    slot: "light-0",
    allocation: 2 ** 45,
    now: Date.now(),
  })
  // The dispatcher may have claimed the task first; the report then has its fence.
  const fence =
    claimed?.task.fence ?? (await readJobSnapshot(database, jobId))?.tasks[0]?.fence ?? 0
  const format = { format_name: "mov,mp4" }
  const report: TerminalReport = {
    kind: "finished",
    boot: "boot",
    at: new Date().toISOString(),
    processing_seconds: 0.05,
    result: {
      kind: "probe",
      probe: { width: 640, height: 360, duration: 1.5, format_name: "mov,mp4", streams, format },
    },
  }
  expect((await settleTask(env, { accountId, jobId, taskId, fence }, report)).outcome).toBe(
    "settled",
  )
  return {
    jobId,
    caller,
    webhook: await readDeliveryBody(env.MEDIA, await readStoredWebhook(jobId)),
  }
}

async function listKept(): Promise<string[]> {
  return (await env.MEDIA.list()).objects.map((object) => object.key)
}

it.each([
  ["small", 1],
  ["too big for a row", 2000],
])(
  "a webhook's data equals the response of GET byte for byte, with a probe that is %s",
  async (_, count) => {
    const streams = Array.from({ length: count }, (__, index) => ({ index, codec_name: "h264" }))
    const { jobId, caller, webhook } = await settledFile(streams)
    const shown = await (await caller.call(`/files/${jobId}`)).text()
    expect(JSON.parse(shown)).toMatchObject({
      status: "success",
      ffprobe: { width: 640, height: 360, duration: 1.5, format_name: "mov,mp4", streams },
    })
    expect(webhook?.endsWith(`,"data":${shown}}`)).toBe(true)
    expect(webhook?.startsWith('{"type":"file.succeeded","timestamp":"')).toBe(true)
  },
)

it("a probe that is too big for a row is removed with its file", async () => {
  const streams = Array.from({ length: 2000 }, (_, index) => ({ index, codec_name: "h264" }))
  const { jobId, caller } = await settledFile(streams)
  expect((await listKept()).filter((key) => key.includes("/values/")).length).toBeGreaterThan(0)
  const before = (await listKept()).length
  await caller.call(`/files/${jobId}`, { method: "DELETE" })
  await expect.poll(async () => (await listKept()).length).toBe(before - 2)
})
