import { afterAll, beforeAll, expect, it } from "vitest"
import { z } from "zod"
import { openBed, readJson } from "../../faults/bed.ts"
import type { Bed } from "../../faults/bed.ts"
import { findLeftovers } from "../../faults/leftovers.ts"
import { findRunner } from "../../faults/processes.ts"

const LEFT_MS_MAX = 30_000
const WAIT_SECONDS_MAX = 10
const SLOTS = 4
/** Some parts, of which each takes a while. */
const LARGE = "size=50000000&rate=20000000"
/** How long anybody waits for a lookup. */
const LOOKUP_MS_MAX = 30_000

const created = z.looseObject({ id: z.string() })
const shown = z.looseObject({ status: z.string(), error_code: z.string().optional() })

let bed: Bed

beforeAll(async () => {
  const settings = { SWEEP_SECONDS: "2", WAIT_SECONDS_MAX: String(WAIT_SECONDS_MAX) }
  bed = await openBed(settings)
})

afterAll(async () => {
  await bed[Symbol.asyncDispose]()
})

function post(path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" }
  return bed.call("POST", path, () => ({ headers, body: JSON.stringify(body) }))
}

async function beginImport(path: string): Promise<string> {
  const body = { file_url: bed.source.url(path), webhook: bed.receiver.url }
  return (await readJson(created, post("/files", body))).id
}

/** Imports a large file, and does something while its second part is on its way. */
async function interrupt(name: string, act: (id: string) => Promise<void>): Promise<string> {
  const reached = Promise.withResolvers<void>()
  const acted = Promise.withResolvers<void>()
  const rule = bed.proxy.addRule((passing) => {
    if (passing.call !== "outputs resumable parts 2") return null
    reached.resolve()
    return acted.promise.then(async () => (await passing.forward()) ?? "cut")
  })
  const id = await beginImport(`/sound/${name}.wav?${LARGE}`)
  await reached.promise
  await act(id)
  acted.resolve()
  rule.remove()
  return id
}

async function untilEnd(room: string, id: string) {
  const headers = { prefer: "wait=50" }
  return await readJson(
    shown,
    bed.call("GET", `/${room}/${id}`, () => ({ headers })),
  )
}

it("leaves nothing of an import canceled during a part", async () => {
  const id = await interrupt("canceled", async (jobId) => {
    expect((await bed.call("POST", `/jobs/${jobId}/cancel`)).status).toBe(200)
  })
  expect(await untilEnd("files", id)).toMatchObject({ status: "failed", error_code: "canceled" })
  await expect.poll(() => [...bed.receiver.heardOf(id).types]).toEqual(["file.canceled"])
  expect(await findLeftovers(bed, LEFT_MS_MAX)).toEqual([])
})

it("leaves nothing of an import whose file is deleted during a part", async () => {
  const id = await interrupt("deleted", async (fileId) => {
    expect((await bed.call("DELETE", `/files/${fileId}`)).status).toBe(200)
  })
  expect((await bed.call("GET", `/files/${id}`)).status).toBe(404)
  expect(await findLeftovers(bed, LEFT_MS_MAX)).toEqual([])
})

it("leaves nothing of an interrupted source without ranges", async () => {
  const path = "/sound/cut.wav?size=20000000&range=no&etag=none&modified=no&cut=15000000&times=1"
  const id = await beginImport(path)
  expect(await untilEnd("files", id)).toMatchObject({ status: "success", size_bytes: 20_000_000 })
  expect(await findLeftovers(bed, LEFT_MS_MAX)).toEqual([])
})

function never(number: number): string {
  return `/as/never-${number}.mp4?file=clip.mp4&rate=1100`
}

it("expires a job that waits too long for a full pool", async () => {
  const running = await Promise.all(
    Array.from({ length: SLOTS }, (_, at) => beginImport(never(at))),
  )
  await expect
    .poll(() => running.map((_, at) => bed.source.requestsOf(never(at)).length), {
      timeout: LOOKUP_MS_MAX,
    })
    .toEqual(running.map(() => 1))
  const id = await beginImport("/as/waiting.mp4?file=clip.mp4")
  expect(await untilEnd("files", id)).toMatchObject({ status: "failed", error_code: "expired" })
  await Promise.all(running.map((each) => bed.call("POST", `/jobs/${each}/cancel`)))
  expect(await findLeftovers(bed, LEFT_MS_MAX)).toEqual([])
})

it("answers a lookup in time while the runner does not respond, and leaves nothing of it", async () => {
  const pid = findRunner(bed.pid)
  if (pid === null) throw new Error("there is no runner")
  process.kill(pid, "SIGSTOP")
  try {
    const begunMs = performance.now()
    // Sent as it is: `call` would try again.
    const answer = await fetch(`${bed.origin}/v1/fetch/metadata`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": bed.key },
      body: JSON.stringify({ url: bed.source.url("/page/video") }),
    })
    expect([503, 504]).toContain(answer.status)
    expect(performance.now() - begunMs).toBeLessThan(LOOKUP_MS_MAX)
  } finally {
    process.kill(pid, "SIGCONT")
  }
  expect(await findLeftovers(bed, LEFT_MS_MAX)).toEqual([])
})
