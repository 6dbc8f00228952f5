import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { startTestSite } from "../../support/site/site.ts"
import type { TestSite } from "../../support/site/site.ts"
import { openKeyedCall } from "../operate/keyed-call.ts"
import type { KeyedCall } from "../operate/keyed-call.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const file = z.looseObject({
  id: z.uuid(),
  status: z.string(),
  name: z.string(),
  source: z.string(),
  source_url: z.string().optional(),
  download_url: z.url(),
  size_bytes: z.int().nullable(),
  error_code: z.string().optional(),
  ffprobe: z.looseObject({ width: z.int().optional() }).nullable(),
})
const command = z.looseObject({
  id: z.uuid(),
  status: z.string(),
  error: z.string().optional(),
  error_code: z.string().optional(),
  progress: z.number().nullable(),
})

const WAIT = { prefer: "wait=50" }

let site: TestSite
let service: TestService
let call: KeyedCall

beforeAll(async () => {
  site = await startTestSite()
  service = await startService({ ALLOWED_PRIVATE_HOSTS: site.host })
  call = openKeyedCall(service, await service.makeKey("imports", "paid"))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await site.close()
})

function post(path: string, body: object): Promise<Response> {
  const headers = { ...WAIT, "content-type": "application/json" }
  return call(path, { method: "POST", headers, body: JSON.stringify(body) })
}

async function readBytes(url: string): Promise<Buffer> {
  return Buffer.from(await (await call(url)).arrayBuffer())
}

async function runCommand(input_files: Record<string, string>) {
  const inputs = Object.keys(input_files).map((name) => `-i {{${name}}}`)
  const answer = await post("/commands", {
    ffmpeg_command: `ffmpeg ${inputs.join(" ")} -map 0 -c copy {{out_1}}`,
    input_files,
    output_files: { out_1: "out.mkv" },
  })
  expect(answer.status).toBe(202)
  return command.parse(await answer.json())
}

async function listImports() {
  return z.array(file).parse(await (await call("/files?source=import")).json())
}

function timesAsked(path: string): number {
  return site.requests.filter((request) => JSON.stringify(request).includes(path)).length
}

describe("POST /files with a file_url", () => {
  it("stores the resource of the URL unchanged, and probes it", async () => {
    const url = site.url("/as/a%20film.mp4?file=clip.mp4")
    const answer = await post("/files", { file_url: `${url}#t=1` })
    expect(answer.status).toBe(201)
    const made = file.parse(await answer.json())
    expect(made).toMatchObject({ status: "success", name: "a film.mp4", source_url: url })
    expect(made.ffprobe?.width).toBeGreaterThan(0)
    const [stored, there] = await Promise.all([readBytes(made.download_url), readBytes(url)])
    expect(stored.equals(there)).toBe(true)
  })

  it("imports the media of a page", async () => {
    const answer = await post("/files", { file_url: site.url("/page/video?title=A%20film") })
    const made = file.parse(await answer.json())
    expect(made).toMatchObject({ status: "success", name: "A film.mp4" })
    expect(made.ffprobe?.width).toBeGreaterThan(0)
  })

  it("stores data without a probe, and refuses a page in place of media", async () => {
    const data = await post("/files", { file_url: site.url("/bytes/look.cube?size=5000") })
    const made = file.parse(await data.json())
    expect(made).toMatchObject({ status: "success", ffprobe: null, size_bytes: 5000 })
    expect(made["warnings"]).toMatchObject([{ code: "not_media" }])
    const page = await post("/files", { file_url: site.url("/page/nothing?/video.mp4") })
    const failed = file.parse(await page.json())
    expect(failed).toMatchObject({ status: "failed", error_code: "unsupported_site" })
  })

  it("reports a missing resource, and keeps its failed File", async () => {
    const answer = await post("/files", { file_url: site.url("/status/404") })
    const made = file.parse(await answer.json())
    expect(made).toMatchObject({ status: "failed", error_code: "not_found", size_bytes: null })
    expect((await call(made.download_url)).status).toBe(404)
  })
})

describe("a command whose inputs are URLs", () => {
  it("imports each URL once, and keeps it as a File", async () => {
    const url = site.url("/as/once.mp4?file=clip.mp4")
    const done = await runCommand({ in_1: url, in_2: `${url}#again` })
    expect(done).toMatchObject({ status: "success", progress: 100 })
    expect(timesAsked("/as/once.mp4")).toBe(1)
    const [made] = (await listImports()).filter(({ source_url }) => source_url === url)
    expect(made).toMatchObject({ status: "success", name: "once.mp4" })
    expect((await call(`/commands/${done.id}`, { method: "DELETE" })).status).toBe(200)
    expect((await call(made?.download_url ?? "")).status).toBe(200)
  })
})
