import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { endJob } from "../../src/pipeline/settle/settle.ts"
import { memberObjectKey, outputObjectKey } from "../../src/storage/objects.ts"
import { callIo, createUpload, putPart } from "../contracts/io-caller.ts"
import type { IoUnderTest } from "../contracts/io-caller.ts"
import { testIoRoutes } from "../contracts/io-routes.ts"
import { testResumableRoutes } from "../contracts/io-resumable-routes.ts"
import { BOOT, startTask } from "../support/bundle.ts"
import { ask, makeCaller, upload } from "../support/caller.ts"
import type { Caller } from "../support/caller.ts"

const INPUT = "what a runner reads"
const CANCELED = { code: "canceled" as const, message: "Canceled.", lines: [] }

let caller: Caller
let fileId: string

beforeAll(async () => {
  caller = await makeCaller("io-routes")
  fileId = (await upload(caller, "in.txt", INPUT)).id
})

async function openRoutes(): Promise<IoUnderTest> {
  const outputs = { out_1: "list.m3u8", out_2: "b.mp4" }
  const inputs = [{ key: "in_1", fileId }]
  const task = await startTask(caller, outputs, { inputs })
  return {
    fetch: ask,
    taskId: task.taskId,
    token: task.token,
    boot: BOOT,
    input: { key: "in_1", bytes: Uint8Array.from(new TextEncoder().encode(INPUT)) },
    outputKeys: ["out_1", "out_2"],
    async readStored(key, member) {
      const output = outputObjectKey(task.accountId, task, key)
      return await readObject(member ? memberObjectKey(output, member) : output)
    },
    readResumable: (key) => readObject(outputObjectKey(task.accountId, { ...task, fence: 0 }, key)),
    async endRun() {
      await endJob(env, task, { state: "canceled", failure: CANCELED })
    },
    close: () => Promise.resolve(),
  }
}

async function readObject(objectKey: string) {
  const stored = await env.MEDIA.get(objectKey)
  if (!stored) return null
  const contentType = stored.httpMetadata?.contentType ?? null
  return { bytes: new Uint8Array(await stored.arrayBuffer()), contentType }
}

describe("the Worker's I/O routes", () => {
  testIoRoutes(openRoutes)
  testResumableRoutes(openRoutes)

  it("leaves no upload of an output that was begun again", async () => {
    const io = await openRoutes()
    const path = "/outputs/out_2"
    const [left, id] = [
      await createUpload(io, path, "video/mp4"),
      await createUpload(io, path, "video/mp4"),
    ]
    const etag = await putPart(io, `${path}/parts/1?upload_id=${id}`, new Uint8Array(3))
    const body = JSON.stringify({ parts: [{ part_number: 1, etag }] })
    const completed = await callIo(io, `${path}/parts/complete?upload_id=${id}`, {
      method: "POST",
      body,
    })
    expect(completed.status).toBe(200)
    const late = await callIo(io, `${path}/parts/1?upload_id=${left}`, { method: "PUT", body: "x" })
    expect(late.status).toBe(404)
  })
})
