import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const record = z.looseObject({
  id: z.string(),
  status: z.string(),
  waiting_for: z.array(z.string()).optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
  outputs: z.array(z.looseObject({ id: z.string().optional(), name: z.string() })).default([]),
  file_ids: z.record(z.string(), z.string()).optional(),
})
const problem = z.looseObject({
  details: z.array(z.looseObject({ field: z.string(), code: z.string(), message: z.string() })),
})
const UNKNOWN_ID = "0190a0a0-0000-7000-8000-000000000000"

let service: TestService
let key: string

beforeAll(async () => {
  service = await startService()
  key = await service.makeKey("chains")
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

async function call(method: string, path: string, body?: unknown, prefer = "", as = key) {
  const headers = {
    "x-api-key": as,
    "content-type": "application/json",
    ...(prefer && { prefer }),
  }
  const sent = body === undefined ? null : JSON.stringify(body)
  const answer = await fetch(`${service.origin}/v1${path}`, { method, headers, body: sent })
  const text = await answer.text()
  return { status: answer.status, body: text === "" ? null : z.unknown().parse(JSON.parse(text)) }
}

async function create(path: string, body: unknown): Promise<string> {
  const { status, body: made } = await call("POST", `/${path}`, body)
  if (status !== 202) throw new Error(JSON.stringify(made))
  return z.string().parse(Object.values(z.looseObject({}).parse(made))[0])
}

async function refusal(path: string, body: unknown, as = key) {
  const { status, body: refused } = await call("POST", `/${path}`, body, "", as)
  expect(status).toBe(422)
  return problem.parse(refused).details
}

async function read(id: string, prefer = "") {
  return record.parse((await call("GET", `/jobs/${id}`, undefined, prefer)).body)
}

async function end(id: string) {
  return await read(id, "wait=60")
}

/** Creates a job that takes about as many seconds as its output is long. */
async function encode(seconds: number, { sound = true, name = "a.mp4" } = {}): Promise<string> {
  const tone = sound ? `-f lavfi -i sine=frequency=440:duration=${seconds} -c:a aac` : ""
  return await create("commands", {
    ffmpeg_command: `ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10:duration=${seconds} ${tone} -c:v mpeg4 {{out_1}}`,
    output_files: { out_1: name },
  })
}

async function remux(input: string, more: object = {}): Promise<string> {
  return await create("commands", {
    ffmpeg_command: "ffmpeg -i {{in_1}} -c copy {{out_1}}",
    input_files: { in_1: input },
    output_files: { out_1: "b.mp4" },
    ...more,
  })
}

describe("a job whose input is an output that another job still has to write", () => {
  it("waits for the output, and starts when the output is there", async () => {
    const first = await encode(6)
    const second = await remux(`svc_id://${first}/out_1`)
    const { file_ids } = await read(second)
    const third = await create("normalize", { file_url: `svc_id://${file_ids?.["out_1"]}` })
    const fourth = await remux(`svc_id://${third}/file`)
    expect(await read(second)).toMatchObject({ status: "queued", waiting_for: [first] })
    expect(await read(fourth)).toMatchObject({ status: "queued", waiting_for: [third] })
    const last = await end(fourth)
    expect(last).toMatchObject({ status: "completed", outputs: [{ name: "b.mp4" }] })
    expect(last.waiting_for).toBeUndefined()
    expect(await read(third)).toMatchObject({ status: "completed" })
  })

  it("reads the reserved id and the reference of one output as the same file", async () => {
    const first = await encode(0.2)
    await end(first)
    const second = await remux(`svc_id://${first}/out_1`)
    expect(await end(second)).toMatchObject({ status: "completed" })
  })

  it("fails with the id and the error of the job that failed, down the whole chain", async () => {
    const first = await create("commands", {
      ffmpeg_commands: [
        "ffmpeg -re -f lavfi -i testsrc=duration=5 -f null -",
        "ffmpeg -f lavfi -i testsrc=duration=1 -vf crop=99999:99999 {{out_1}}",
      ],
      output_files: { out_1: "a.mp4" },
    })
    const second = await remux(`svc_id://${first}/out_1`)
    const third = await remux(`svc_id://${second}/out_1`)
    const { error } = await end(third)
    const cause = (await end(first)).error
    expect(error?.code).toBe("input_failed")
    expect(error?.message).toContain(`was not written by the job ${second}: input_failed: `)
    expect((await end(second)).error?.message).toContain(
      `was not written by the job ${first}: ${cause?.code}: ${cause?.message}`,
    )
  })

  it("fails if the other job is canceled", async () => {
    const first = await encode(30)
    const second = await remux(`svc_id://${first}/out_1`)
    await call("POST", `/jobs/${first}/cancel`)
    const { error } = await end(second)
    expect(error).toMatchObject({ code: "input_failed" })
    expect(error?.message).toContain(`${first}: canceled: `)
  })

  it("fails if the other job is deleted", async () => {
    const first = await encode(30)
    const second = await remux(`svc_id://${first}/out_1`)
    await call("DELETE", `/jobs/${first}`)
    expect((await end(second)).error).toMatchObject({ code: "input_deleted" })
  })

  it("is judged by the sentences of the create once the output is there", async () => {
    const first = await encode(0.5, { sound: false })
    const second = await create("normalize", { file_url: `svc_id://${first}/out_1` })
    const { error } = await end(second)
    const [fault] = await refusal("normalize", { file_url: `svc_id://${first}/out_1` })
    expect(error).toEqual({
      code: fault?.code,
      message: `The job could not start: file_url: ${fault?.message}.`,
    })
  })

  it("is refused if the output will be a series of files", async () => {
    const first = await create("commands", {
      ffmpeg_command: "ffmpeg -f lavfi -i testsrc=duration=1:rate=2 {{out_1}}",
      output_files: { out_1: "frame_%03d.png" },
    })
    const faults = await refusal("normalize", { file_url: `svc_id://${first}/out_1` })
    expect(faults).toMatchObject([{ field: "file_url", code: "series_as_input" }])
  })
})

describe("a reference to an output", () => {
  it("of an unknown job is refused, as is that of another account", async () => {
    const body = { file_url: `svc_id://${UNKNOWN_ID}/file` }
    const unknown = await refusal("normalize", body)
    expect(unknown).toMatchObject([{ field: "file_url", code: "no_such_job" }])
    const first = await encode(0.2)
    const other = await service.makeKey("other")
    expect(await refusal("normalize", { file_url: `svc_id://${first}/out_1` }, other)).toEqual(
      unknown,
    )
  })

  it("of an unknown output is refused with the outputs that the job has", async () => {
    const first = await create("commands", {
      ffmpeg_command: "ffmpeg -f lavfi -i sine=duration=1 {{out_1}} {{snd}}",
      output_files: { out_1: "a.wav", snd: "b.wav" },
    })
    const faults = await refusal("normalize", { file_url: `svc_id://${first}/file` })
    expect(faults).toMatchObject([{ field: "file_url", code: "no_such_output" }])
    expect(faults[0]?.message).toContain("it has out_1, snd")
  })

  it("by a name is refused outside of a batch", async () => {
    const faults = await refusal("normalize", { file_url: "svc_id://level/file" })
    expect(faults).toMatchObject([{ field: "file_url", code: "no_such_job" }])
  })

  it("extends a chain to ten jobs at most", async () => {
    const first = await encode(20)
    let last = first
    for (let length = 2; length <= 10; length += 1) last = await remux(`svc_id://${last}/out_1`)
    const faults = await refusal("normalize", { file_url: `svc_id://${last}/out_1` })
    expect(faults).toMatchObject([{ field: "file_url", code: "chain_too_long" }])
    await call("POST", `/jobs/${first}/cancel`)
    expect((await end(last)).error).toMatchObject({ code: "input_failed" })
  })
})
