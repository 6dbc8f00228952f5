import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const record = z.looseObject({
  status: z.string(),
  progress: z.number().nullable(),
  progress_detail: z.looseObject({ frame: z.int(), time_seconds: z.number() }).optional(),
})

let service: TestService
let key: string

beforeAll(async () => {
  service = await startService()
  key = await service.makeKey("told by ffmpeg")
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { "x-api-key": key, ...Object.fromEntries(new Headers(init.headers)) }
  return await fetch(`${service.origin}/v1${path}`, { ...init, headers })
}

async function create(ffmpeg_command: string): Promise<string> {
  const output_files = { out_1: "out.mp4" }
  const answer = await post("/commands", { ffmpeg_command, input_files: {}, output_files })
  return z.looseObject({ command_id: z.string() }).parse(await answer.json()).command_id
}

async function post(path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" }
  return await call(path, { method: "POST", headers, body: JSON.stringify(body) })
}

async function textOf(log: string): Promise<string> {
  return await (await fetch(log, { headers: { "x-api-key": key } })).text()
}

describe("a job of unknown length", () => {
  it("has frames and time in its events, and no percent", async () => {
    const graph = "testsrc=size=64x64:rate=10,setpts=PTS+random(0),trim=end_frame=60"
    const id = await create(`ffmpeg -re -f lavfi -i "${graph}" -c:v mpeg4 {{out_1}}`)
    const text = await (await call(`/jobs/${id}/events`)).text()
    const jobs = Array.from(text.matchAll(/^data: (.*)$/gm), ([, data = ""]) =>
      record.parse(JSON.parse(data)),
    )
    const frames = jobs.flatMap(({ progress, progress_detail: detail }) =>
      progress === null && detail ? [detail.frame] : [],
    )
    expect(frames.length).toBeGreaterThan(1)
    expect(frames).toEqual(frames.toSorted((one, other) => one - other))
    expect(new Set(frames).size).toBe(frames.length)
    expect(jobs.at(-1)).toMatchObject({ status: "completed", progress: 100 })
    expect(jobs.at(-1)).not.toHaveProperty("progress_detail")
  })
})
describe("commands without output files", () => {
  const SOUND = "-f lavfi -i sine=d=1"

  it("succeed, with their results in the log", async () => {
    const answer = await post("/commands", {
      ffmpeg_commands: [
        `${SOUND} -f lavfi -i testsrc2=s=64x64:d=1 -c:v ffv1 both.mkv`,
        "-i both.mkv -map 0:a -af volumedetect -f null - -map 0:v -vf blackdetect -f null /dev/null",
        "-i both.mkv -i both.mkv -lavfi [0:v][1:v]ssim -f null -",
      ],
    })
    const { command_id: id } = z.looseObject({ command_id: z.string() }).parse(await answer.json())
    const read = await call(`/commands/${id}`, { headers: { prefer: "wait=30" } })
    const ended = z.looseObject({ log: z.url() }).parse(await read.json())
    expect(ended).toMatchObject({ status: "success", output_files: {}, progress: 100 })
    const text = await textOf(ended.log)
    expect(text).toMatch(/mean_volume: -\d/)
    expect(text).toMatch(/SSIM .*All:1\.0/)
    const listed = await (await call("/commands?limit=1")).json()
    expect(listed).toMatchObject([{ id, status: "success", output_files: {} }])
    const job = await (await call(`/jobs/${id}`)).json()
    expect(job).toMatchObject({ status: "completed", outputs: [] })
  })

  it("need no output_filename in POST /ffmpeg", async () => {
    const command = `${SOUND} -af ebur128 -f null -`
    const answer = await post("/ffmpeg", { inputs: [], command })
    const job = z.looseObject({ id: z.string() }).parse(await answer.json())
    const read = await call(`/jobs/${job.id}`, { headers: { prefer: "wait=30" } })
    const ended = z.looseObject({ log: z.url() }).parse(await read.json())
    expect(ended).toMatchObject({ status: "completed", outputs: [] })
    expect(await textOf(ended.log)).toMatch(/Integrated loudness/)
  })
})
