import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { makeTaskToken, verifyTaskToken, GRANT_VALID_MS } from "../../src/runner/task-token.ts"
import { collectGarbage } from "../../src/objects/collect-garbage.ts"
import { openDirectory } from "../../src/db/database.ts"
import { endOpenJob } from "../../src/jobs/settle/settle.ts"
import { makeMemberObjectKey, makeOutputObjectKey } from "../../src/domain/object-keys.ts"
import { callIo, createUpload, putPart } from "../suites/io-caller.ts"
import type { IoUnderTest } from "../suites/io-caller.ts"
import { testIoRoutes } from "../suites/io-routes.ts"
import { testPartRoutes } from "../suites/io-part-routes.ts"
import { testResumableRoutes } from "../suites/io-resumable-routes.ts"
import { TEST_BOOT_ID, startCommandTask } from "../support/media/bundle.ts"
import { fetchWorker, makeCaller, uploadTestFile } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"
import { recordD1RoundTrips } from "../support/db/counted-trips.ts"

const INPUT = "reads of a runner"
const SECRET = env.LATHE_SECRET ?? ""
const CANCELED = { code: "canceled" as const, message: "Canceled.", lines: [] }

let caller: TestCaller
let fileId: string

beforeAll(async () => {
  caller = await makeCaller("io-routes")
  fileId = (await uploadTestFile(caller, "in.txt", INPUT)).id
})

async function openRoutes(): Promise<IoUnderTest> {
  const outputs = { out_1: "list.m3u8", out_2: "b.mp4" }
  const inputs = [{ key: "in_1", fileId }]
  const task = await startCommandTask(caller, outputs, { inputs })
  return {
    fetch: fetchWorker,
    taskId: task.taskId,
    token: task.token,
    boot: TEST_BOOT_ID,
    input: { key: "in_1", bytes: Uint8Array.from(new TextEncoder().encode(INPUT)) },
    outputKeys: ["out_1", "out_2"],
    async readStored(key, member) {
      const output = makeOutputObjectKey(task.accountId, task, key)
      return await readObject(member ? makeMemberObjectKey(output, member) : output)
    },
    readResumable: (key) =>
      readObject(makeOutputObjectKey(task.accountId, { ...task, fence: 0 }, key)),
    async endRun() {
      await endOpenJob(env, task, { state: "canceled", failure: CANCELED })
    },
    close: () => Promise.resolve(),
  }
}

async function findInputObjectKey(taskId: string): Promise<string> {
  const sql = "select f.object_key from files f join task_inputs on file_id = id where task_id = ?"
  return (await env.DB.prepare(sql).bind(taskId).first<string>("object_key")) ?? ""
}

async function readObject(objectKey: string) {
  const stored = await env.MEDIA.get(objectKey)
  if (!stored) return null
  const contentType = stored.httpMetadata?.contentType ?? null
  return { bytes: new Uint8Array(await stored.arrayBuffer()), contentType }
}

/** Opens the routes as an outbound handler calls them: with a stream without a known length. */
async function openOutbound(): Promise<IoUnderTest> {
  const io = await openRoutes()
  return {
    ...io,
    fetch(path, { body, ...init }) {
      const stream = body === undefined ? null : unmeasured(new Response(body).body)
      return io.fetch(path, { ...init, body: stream })
    },
  }
}

function unmeasured(body: ReadableStream<Uint8Array> | null): ReadableStream<Uint8Array> {
  return (body ?? new Blob([]).stream()).pipeThrough(new TransformStream())
}

describe("the Worker's I/O routes, called by a container", () => {
  testIoRoutes(openOutbound)
  testPartRoutes(openOutbound)
  testResumableRoutes(openOutbound)

  it.for([
    ["an output in parts", "/outputs/out_1", "parts"],
    ["an upload that later runs go on with", "/outputs/out_1/resumable", ""],
  ])("completes %s with the part whose etag R2 returned last", async ([, path = "", word = ""]) => {
    const io = await openOutbound()
    const begin = JSON.stringify({ validator: "v", content_type: "video/mp4" })
    const begun = await callIo(io, [path, word].filter(Boolean).join("/"), {
      method: "POST",
      body: begin,
    })
    const id = encodeURIComponent((await begun.json<{ upload_id: string }>()).upload_id)
    const part = `${path}/parts/1?upload_id=${id}`
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const length = { "content-length": "4" }
    const first = callIo(
      { ...io, fetch: (to, init) => fetchWorker(to, { ...init, body: readable }) },
      part,
      {
        method: "PUT",
        headers: length,
      },
    )
    await writer.write(Uint8Array.of(1, 2))
    const etag = await putPart(io, part, Uint8Array.of(1, 2, 3, 4))
    await writer.write(Uint8Array.of(3, 4))
    await writer.close()
    expect((await first).status).toBe(200)
    const body = JSON.stringify({ parts: [{ part_number: 1, etag }] })
    const complete = `${path}/${word === "" ? "" : `${word}/`}complete?upload_id=${id}`
    expect((await callIo(io, complete, { method: "POST", body })).status).toBe(200)
    const stored = word === "" ? await io.readResumable("out_1") : await io.readStored("out_1")
    expect(stored?.bytes).toEqual(Uint8Array.of(1, 2, 3, 4))
  })
})

describe("the Worker's I/O routes", () => {
  testIoRoutes(openRoutes)
  testPartRoutes(openRoutes)
  testResumableRoutes(openRoutes)

  describe("with a token that grants the state of D1", () => {
    async function openGranted(at: number) {
      const io = await openRoutes()
      const { run } = (await verifyTaskToken(SECRET, io.token)) ?? {}
      if (!run) throw new Error("the token is not valid")
      const grant = {
        at,
        inputs: { in_1: await findInputObjectKey(io.taskId) },
        outputs: ["out_1"],
      }
      return { ...io, run, token: await makeTaskToken(SECRET, run, grant) }
    }

    function store(io: IoUnderTest, key: string) {
      const headers = { "content-length": "1", "content-type": "video/mp4" }
      return callIo(io, `/outputs/${key}`, { method: "PUT", headers, body: "x" })
    }

    it("read nothing from D1 for a while", async () => {
      const io = await openGranted(Date.now())
      const trips = await recordD1RoundTrips(async () => {
        const answer = await callIo(io, "/inputs/in_1")
        expect(await answer.text()).toBe(INPUT)
        expect((await store(io, "out_1")).status).toBe(200)
        expect((await store(io, "out_2")).status).toBe(404)
      })
      expect(trips).toEqual([])
    })

    it("read once for later outputs, and for each input", async () => {
      const io = await openGranted(Date.now() - GRANT_VALID_MS)
      const trips = await recordD1RoundTrips(async () => {
        for (const key of ["out_1", "out_2"]) expect((await store(io, key)).status).toBe(200)
        await (await callIo(io, "/inputs/in_1")).text()
      })
      expect(trips).toEqual(["select tasks", "select task_inputs"])
    })

    it("return 410 once the run ended, except within the grant", async () => {
      const io = await openGranted(Date.now() - GRANT_VALID_MS)
      await io.endRun()
      expect((await store(io, "out_1")).status).toBe(410)
      expect((await callIo(io, "/inputs/in_1")).status).toBe(410)
    })

    it("leave nothing that was stored after the end", async () => {
      const io = await openGranted(Date.now())
      await io.endRun()
      await collectGarbage(env, openDirectory(env), Date.now())
      expect((await store(io, "out_1")).status).toBe(200)
      expect(await io.readStored("out_1")).not.toBeNull()
      await collectGarbage(env, openDirectory(env), Date.now() + 3_700_000)
      expect(await io.readStored("out_1")).toBeNull()
    })

    it("refuse a token with another grant in it", async () => {
      const io = await openGranted(Date.now())
      const others = { at: Date.now(), inputs: { in_1: "another/object" }, outputs: [] }
      const grant = btoa(JSON.stringify(others)).replaceAll("=", "")
      const token = io.token.split(".").with(4, grant).join(".")
      expect((await callIo({ ...io, token }, "/inputs/in_1")).status).toBe(401)
    })
  })

  it("leave no upload of an output that was started again", async () => {
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
