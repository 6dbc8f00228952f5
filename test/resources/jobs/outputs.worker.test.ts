import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { accountOf, startTask } from "../../support/bundle.ts"
import { makeCaller, upload } from "../../support/caller.ts"
import type { Caller } from "../../support/caller.ts"
import { fetchResult } from "../../support/fetched.ts"
import { normalizeResult } from "../../support/normalized.ts"
import { renderResult } from "../../support/rendered.ts"
import { endTask, findTask, imported, PROBED } from "../../support/stand-in-runner.ts"
import type { TaskEnd } from "../../support/stand-in-runner.ts"
import { transcribeResult } from "../../support/transcribed.ts"
import { storedWebhook } from "../../support/stored-webhook.ts"

const PAGE = "https://media.example/film.webm"
const BASE = "https://lathe.test/v1"
const FILE = `${BASE}/files/[0-9a-f-]{36}`

const PROBED_FILM: TaskEnd = {
  result: {
    kind: "probe",
    probe: {
      width: 640,
      height: 360,
      duration: 1.5,
      format_name: "webm",
      streams: [{ codec_type: "video", codec_name: "vp9" }],
      format: {},
    },
  },
}

let caller: Caller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID())
  accountId = await accountOf(caller)
})

async function create(path: string, body: object): Promise<string> {
  const answer = await caller.post(path, body)
  expect(answer.status).toBe(202)
  const location = answer.headers.get("location") ?? ""
  return location.slice(location.lastIndexOf("/") + 1)
}

async function end(id: string, kind: string, how: TaskEnd): Promise<void> {
  expect(await endTask(await findTask(accountId, id, kind), how)).toBe("ok")
}

async function putFile(): Promise<string> {
  const { id } = await upload(caller, "talk.mp4", "bytes")
  await end(id, "probe", PROBED)
  return id
}

async function outputsOf(id: string): Promise<Record<string, unknown>[]> {
  const record = z.looseObject({ status: z.string(), outputs: z.array(z.looseObject({})) })
  const shown = record.parse(await (await caller.call(`/jobs/${id}`)).json())
  expect(shown.status).toBe("completed")
  const [listed] = z.array(record).parse(await (await caller.call("/jobs?limit=1")).json())
  expect(listed).toEqual(shown)
  const events = await (await caller.call(`/jobs/${id}/events`)).text()
  const told = /^data: (.*)$/m.exec(events)?.[1] ?? ""
  expect(JSON.parse(told)).toEqual(shown)
  return shown.outputs
}

function fileUrl(name: string): unknown {
  return expect.stringMatching(new RegExp(`^${FILE}/${name.replaceAll(".", String.raw`\.`)}$`))
}

describe("the outputs of a Job", () => {
  it("are the file, of an upload", async () => {
    const { id, download_url } = await upload(caller, "a film.webm", "bytes")
    const before = await (await caller.call(`/jobs/${id}`)).json()
    expect(before).toMatchObject({ kind: "file", status: "queued", outputs: [] })
    await end(id, "probe", PROBED_FILM)
    expect(await outputsOf(id)).toEqual([
      {
        url: download_url,
        codec: "vp9",
        resolution: "640x360",
        duration_seconds: 1.5,
        size_bytes: 5,
      },
    ])
    expect(download_url).toBe(`${BASE}/files/${id}/a%20film.webm`)
  })

  it("are the file, of an import, under the name that it has by then", async () => {
    const answer = await caller.post("/files", { file_url: PAGE })
    const { id } = await answer.json<{ id: string }>()
    await end(id, "import", imported({ name: "The film.webm" }))
    const { outputs } = await (await caller.call(`/jobs/${id}`)).json<{ outputs: object[] }>()
    expect(outputs).toEqual([])
    await end(id, "probe", PROBED_FILM)
    const url = `${BASE}/files/${id}/The%20film.webm`
    expect(await outputsOf(id)).toMatchObject([{ url, codec: "vp9", size_bytes: 7 }])
  })

  it("are none of a file that is no media", async () => {
    const { id } = await upload(caller, "a.txt", "bytes")
    await end(id, "probe", { failure: { code: "probe_failed", message: "It is no media." } })
    const shown = await (await caller.call(`/jobs/${id}`)).json()
    expect(shown).toMatchObject({ status: "failed", outputs: [], error: { code: "probe_failed" } })
  })

  it("are files and bundles, of a command", async () => {
    const task = await startTask(caller, { out_1: "a.png", out_2: "p.m3u8" })
    const member = await task.store("out_2", "p.m3u8", "#EXTM3U")
    const [picture] = renderResult("out_1").outputs
    if (!picture) throw new Error("there is no picture")
    const { quality, ...report } = picture
    expect(quality).toBeDefined()
    const bundle = { key: "out_2", size_bytes: 7, content_type: "application/vnd.apple.mpegurl" }
    await task.finish([report, { ...bundle, members: [member], duration_seconds: 2.5 }])
    expect(await outputsOf(task.jobId)).toEqual([
      {
        url: fileUrl("a.png"),
        codec: "hevc",
        resolution: "640x360",
        duration_seconds: 1.5,
        size_bytes: 9,
      },
      { url: fileUrl("p.m3u8"), duration_seconds: 2.5, size_bytes: 7 },
    ])
  })

  it("are the media and its subtitles, of a fetch", async () => {
    const id = await create("/fetch", { url: PAGE, subtitles: "en" })
    await end(id, "fetch", { result: fetchResult(["en"]) })
    const base = `${BASE}/fetch/${id}`
    expect(await outputsOf(id)).toMatchObject([
      { url: `${base}/A%20clip.mp4`, codec: "h264", resolution: "640x360", duration_seconds: 1.5 },
      { url: `${base}/A%20clip.en.vtt`, size_bytes: 6 },
    ])
  })

  it("are the file, of a normalization", async () => {
    const id = await create("/normalize", { file_url: `svc_id://${await putFile()}` })
    await end(id, "normalize", { result: normalizeResult() })
    expect(await outputsOf(id)).toEqual([
      { url: fileUrl("output.wav"), codec: "pcm_s16le", duration_seconds: 2.5, size_bytes: 9 },
    ])
  })

  it("are the transcripts, of a transcription", async () => {
    const id = await create("/transcribe", { source: `svc_id://${await putFile()}` })
    await end(id, "transcribe", { result: transcribeResult() })
    const urls = (await outputsOf(id)).map(({ url }) => url)
    const names = ["json", "srt", "vtt", "txt"].map((format) => `transcript.${format}`)
    expect(urls).toEqual(names.map((name) => `${BASE}/transcribe/${id}/${name}`))
  })

  it("are the renditions, of a transcode, by the words of its request", async () => {
    const source = `svc_id://${await putFile()}`
    const outputs = [
      { codec: "h265", resolution: "4k" },
      { codec: "h265", resolution: "4k" },
    ]
    const id = await create("/transcode", { source, outputs })
    await end(id, "render", { result: renderResult("out_1", "out_2") })
    const shared = { codec: "h265", resolution: "640x360", duration_seconds: 1.5, size_bytes: 9 }
    const quality = { metric: "ssim", score: 0.97 }
    expect(await outputsOf(id)).toEqual([
      { ...shared, url: fileUrl("talk_4k_h265.mp4"), quality },
      { ...shared, url: fileUrl("talk_4k_h265_2.mp4"), quality },
    ])
    const listed = await caller.call("/jobs?kind=transcode&status=completed")
    expect(await listed.json()).toMatchObject([{ id, kind: "transcode" }])
  })
})

describe("the webhook of a job in the Job form", () => {
  it.each(["transcode", "transcribe"])("sends what GET /jobs/{id} answers: %s", async (kind) => {
    const fields = { source: `svc_id://${await putFile()}`, webhook_url: "https://a.example/" }
    const outputs = [{ codec: "h264", resolution: "480p" }]
    const isTranscode = kind === "transcode"
    const id = await create(`/${kind}`, isTranscode ? { ...fields, outputs } : fields)
    const result = isTranscode ? renderResult("out_1") : transcribeResult()
    await end(id, isTranscode ? "render" : kind, { result })
    expect(await deliveryOf(id)).toEqual({
      type: `${kind}.succeeded`,
      data: await (await caller.call(`/jobs/${id}`)).json(),
    })
  })

  it("sends the native record where it is named webhook beside source", async () => {
    const fields = { source: `svc_id://${await putFile()}`, webhook: "https://a.example/" }
    const id = await create("/transcribe", fields)
    await end(id, "transcribe", { result: transcribeResult() })
    expect(await deliveryOf(id)).toMatchObject({
      data: await (await caller.call(`/transcribe/${id}`)).json(),
    })
  })
})

async function deliveryOf(jobId: string): Promise<{ type: string; data: unknown }> {
  const { type, body } = await storedWebhook(jobId)
  const { data } = z.looseObject({ data: z.unknown() }).parse(JSON.parse(body))
  return { type, data }
}
