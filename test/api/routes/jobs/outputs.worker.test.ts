import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { findCallerAccountId, startCommandTask } from "../../../support/media/bundle.ts"
import { makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeFetchResult } from "../../../support/media/fetched.ts"
import { makeNormalizeResult } from "../../../support/media/normalized.ts"
import { makeRenderResult } from "../../../support/media/rendered.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  makeImportEnd,
  PROBE_TASK_END,
} from "../../../support/runner/stand-in-runner.ts"
import type { ReportedTaskEnd } from "../../../support/runner/stand-in-runner.ts"
import { makeTranscribeResult } from "../../../support/media/transcribed.ts"
import { readStoredWebhook } from "../../../support/stored-webhook.ts"

const PAGE = "https://media.example/film.webm"
const BASE = "https://lathe.test/v1"
const FILE = `${BASE}/files/[0-9a-f-]{36}`

const PROBED_FILM: ReportedTaskEnd = {
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

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID())
  accountId = await findCallerAccountId(caller)
})

async function create(path: string, body: object): Promise<string> {
  const answer = await caller.post(path, body)
  expect(answer.status).toBe(202)
  const location = answer.headers.get("location") ?? ""
  return location.slice(location.lastIndexOf("/") + 1)
}

async function end(id: string, kind: string, how: ReportedTaskEnd): Promise<void> {
  expect(await claimAndEndTask(await findTaskByKind(accountId, id, kind), how)).toBe("ok")
}

async function putFile(): Promise<string> {
  const { id } = await uploadTestFile(caller, "talk.mp4", "bytes")
  await end(id, "probe", PROBE_TASK_END)
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

/** Fields of an output that is a File: its id is that in its URL. */
function fileFields(name: string) {
  return { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name, url: fileUrl(name) }
}

const BYTES_SHA256 = "277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9"

describe("the outputs of a Job", () => {
  it("are the file for an upload", async () => {
    const { id, download_url } = await uploadTestFile(caller, "a film.webm", "bytes")
    const before = await (await caller.call(`/jobs/${id}`)).json()
    expect(before).toMatchObject({ kind: "file", status: "queued", outputs: [] })
    await end(id, "probe", PROBED_FILM)
    expect(await outputsOf(id)).toEqual([
      {
        id,
        name: "a film.webm",
        url: download_url,
        content_type: "video/webm",
        sha256: BYTES_SHA256,
        codec: "vp9",
        resolution: "640x360",
        duration_seconds: 1.5,
        size_bytes: 5,
      },
    ])
    expect(download_url).toBe(`${BASE}/files/${id}/a%20film.webm`)
  })

  it("are the file for an import, under its final name", async () => {
    const answer = await caller.post("/files", { file_url: PAGE })
    const { id } = await answer.json<{ id: string }>()
    await end(id, "import", makeImportEnd({ name: "The film.webm" }))
    const { outputs } = await (await caller.call(`/jobs/${id}`)).json<{ outputs: object[] }>()
    expect(outputs).toEqual([])
    await end(id, "probe", PROBED_FILM)
    const url = `${BASE}/files/${id}/The%20film.webm`
    expect(await outputsOf(id)).toMatchObject([{ url, codec: "vp9", size_bytes: 7 }])
  })

  it("are empty for a file that is no media", async () => {
    const { id } = await uploadTestFile(caller, "a.txt", "bytes")
    await end(id, "probe", { failure: { code: "probe_failed", message: "It is no media." } })
    const shown = await (await caller.call(`/jobs/${id}`)).json()
    expect(shown).toMatchObject({ status: "failed", outputs: [], error: { code: "probe_failed" } })
  })

  it("are files and bundles for a command", async () => {
    const task = await startCommandTask(caller, { out_1: "a.png", out_2: "p.m3u8" })
    const member = await task.store("out_2", "p.m3u8", "#EXTM3U")
    const [picture] = makeRenderResult("out_1").outputs
    if (!picture) throw new Error("there is no picture")
    const { quality, ...report } = { ...picture, sha256: BYTES_SHA256 }
    expect(quality).toBeDefined()
    const bundle = { key: "out_2", size_bytes: 7, content_type: "application/vnd.apple.mpegurl" }
    await task.finish([report, { ...bundle, members: [member], duration_seconds: 2.5 }])
    expect(await outputsOf(task.jobId)).toEqual([
      {
        ...fileFields("a.png"),
        content_type: "video/mp4",
        sha256: BYTES_SHA256,
        codec: "hevc",
        resolution: "640x360",
        duration_seconds: 1.5,
        size_bytes: 9,
      },
      {
        ...fileFields("p.m3u8"),
        archive_url: fileUrl("p.zip"),
        content_type: "application/vnd.apple.mpegurl",
        duration_seconds: 2.5,
        size_bytes: 7,
      },
    ])
  })

  it("are the media and the subtitles for a fetch", async () => {
    const id = await create("/fetch", { url: PAGE, subtitles: "en" })
    await end(id, "fetch", { result: makeFetchResult(["en"]) })
    const base = `${BASE}/fetch/${id}`
    const outputs = await outputsOf(id)
    for (const output of outputs) expect(output).not.toHaveProperty("id")
    expect(outputs).toMatchObject([
      {
        name: "A clip.mp4",
        url: `${base}/A%20clip.mp4`,
        codec: "h264",
        resolution: "640x360",
        duration_seconds: 1.5,
      },
      { url: `${base}/A%20clip.en.vtt`, size_bytes: 6 },
    ])
  })

  it("are the file for a normalization", async () => {
    const id = await create("/normalize", { file_url: `svc_id://${await putFile()}` })
    await end(id, "normalize", { result: makeNormalizeResult() })
    expect(await outputsOf(id)).toEqual([
      {
        ...fileFields("talk.wav"),
        content_type: "audio/wav",
        codec: "pcm_s16le",
        duration_seconds: 2.5,
        size_bytes: 9,
      },
    ])
  })

  it("are the transcripts for a transcription", async () => {
    const id = await create("/transcribe", { source: `svc_id://${await putFile()}` })
    await end(id, "transcribe", { result: makeTranscribeResult() })
    const outputs = await outputsOf(id)
    for (const output of outputs) expect(output).not.toHaveProperty("id")
    const urls = outputs.map(({ url }) => url)
    const names = ["json", "srt", "vtt", "txt"].map((format) => `transcript.${format}`)
    expect(urls).toEqual(names.map((name) => `${BASE}/transcribe/${id}/${name}`))
  })

  it("are the renditions for a transcode, in the terms of its request", async () => {
    const source = `svc_id://${await putFile()}`
    const outputs = [
      { codec: "h265", resolution: "4k" },
      { codec: "h265", resolution: "4k", bitrate_kbps: 900 },
    ]
    const id = await create("/transcode", { source, outputs })
    await end(id, "render", { result: makeRenderResult("out_1", "out_2") })
    const shared = { codec: "h265", resolution: "640x360", duration_seconds: 1.5, size_bytes: 9 }
    const more = { content_type: "video/mp4", quality: { metric: "ssim", score: 0.97 } }
    expect(await outputsOf(id)).toEqual([
      { ...shared, ...more, ...fileFields("talk_4k_h265.mp4") },
      { ...shared, ...more, ...fileFields("talk_4k_h265_2.mp4") },
    ])
    const listed = await caller.call("/jobs?kind=transcode&status=completed")
    expect(await listed.json()).toMatchObject([{ id, kind: "transcode" }])
  })

  it("show the one rendition that was made in the place of an equal one", async () => {
    const source = `svc_id://${await putFile()}`
    const h264 = { codec: "h264" }
    const outputs = ["480p", "720p", "1080p"].map((resolution) => ({ ...h264, resolution }))
    const id = await create("/transcode", { source, outputs })
    const reserved = await fileIdsOf(id)
    expect(new Set(Object.values(reserved)).size).toBe(3)
    const message = "out_3 is the same as out_2."
    const warnings = [{ code: "same_rendition" as const, message }]
    const same = [{ key: "out_3", same_as: "out_2" }]
    await end(id, "render", { result: { ...makeRenderResult("out_1", "out_2"), same, warnings } })
    const shown = await outputsOf(id)
    expect(shown.map((output) => output["name"])).toEqual([
      "talk_480p_h264.mp4",
      "talk_720p_h264.mp4",
      "talk_720p_h264.mp4",
    ])
    expect(shown[2]).toEqual(shown[1])
    expect(shown[1]?.["id"]).toBe(reserved["out_2"])
    expect(await fileIdsOf(id)).toEqual({ ...reserved, out_3: reserved["out_2"] })
    const listed = await (await caller.call("/files?source=output")).json<{ id: string }[]>()
    const made = new Set([reserved["out_1"], reserved["out_2"]])
    expect(new Set(listed.map((file) => file.id))).toEqual(made)
    expect((await caller.call(`/files/${reserved["out_3"]}`)).status).toBe(404)
  })
})

async function fileIdsOf(id: string): Promise<Record<string, string>> {
  const record = z.looseObject({ file_ids: z.record(z.string(), z.uuid()) })
  return record.parse(await (await caller.call(`/jobs/${id}`)).json()).file_ids
}

describe("file_ids", () => {
  it.each<[string, string, object]>([
    ["commands", "command_id", { output_files: { out_1: "a.mp4", out_2: "b.png" } }],
    ["normalize", "normalization_id", {}],
  ])("names the Files of POST /%s in its answer, record and lists", async (path, field, more) => {
    const reference = `svc_id://${await putFile()}`
    const body =
      path === "normalize"
        ? { file_url: reference }
        : {
            ...more,
            input_files: { in_1: reference },
            ffmpeg_command: "ffmpeg -i in_1 out_1 out_2",
          }
    const headers = { "content-type": "application/json", "idempotency-key": path }
    const request = { method: "POST", headers, body: JSON.stringify(body) }
    const answer = await caller.call(`/${path}`, request)
    const told = await answer.json<Record<string, unknown>>()
    expect(Object.keys(told).toSorted()).toEqual([field, "file_ids"].toSorted())
    const keys = path === "normalize" ? ["output"] : ["out_1", "out_2"]
    expect(Object.keys(z.object({}).loose().parse(told["file_ids"]))).toEqual(keys)
    const again = await caller.call(`/${path}`, request)
    expect(again.headers.get("idempotent-replayed")).toBe("true")
    expect(await again.json()).toEqual(told)
    const record = { file_ids: told["file_ids"] }
    const id = String(told[field])
    expect(await (await caller.call(`/${path}/${id}`)).json()).toMatchObject(record)
    expect(await (await caller.call(`/${path}`)).json()).toMatchObject([record])
    expect(await (await caller.call(`/jobs/${id}`)).json()).toMatchObject(record)
    expect(await (await caller.call(`/jobs?limit=1`)).json()).toMatchObject([record])
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    expect(await (await caller.call(`/${path}/${id}`)).json()).toMatchObject(record)
    const retried = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    const { file_ids: others } = await retried.json<{ file_ids: Record<string, string> }>()
    expect(Object.keys(others)).toEqual(keys)
    expect(others).not.toEqual(told["file_ids"])
  })

  it.each<[string, object, string[]]>([
    ["ffmpeg", { inputs: [], command: "-f lavfi -i testsrc -t 1 a.mp4" }, ["out_1"]],
    [
      "fetch",
      { url: PAGE, transcode: { outputs: [{ codec: "av1", resolution: "240p" }] } },
      ["out_1"],
    ],
  ])("is in the Job of POST /%s", async (path, body, keys) => {
    const answer = await caller.post(`/${path}`, body)
    const { id, file_ids } = await answer.json<{ id: string; file_ids: Record<string, string> }>()
    expect([answer.status, Object.keys(file_ids)]).toEqual([202, keys])
    expect(await fileIdsOf(id)).toEqual(file_ids)
  })

  it("is absent for jobs that make no Files", async () => {
    const body = { ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 -f null -" }
    for (const [path, request] of [
      ["/commands", body],
      ["/fetch", { url: PAGE }],
      ["/transcribe", { source: PAGE }],
    ] as const) {
      const answer = await caller.post(path, request)
      expect([path, answer.status]).toEqual([path, 202])
      expect(await answer.json()).not.toHaveProperty("file_ids")
    }
  })

  it("is the id of the output's File after the success", async () => {
    const id = await create("/normalize", { file_url: `svc_id://${await putFile()}` })
    const { output } = await fileIdsOf(id)
    await end(id, "normalize", { result: makeNormalizeResult() })
    const shown = await (await caller.call(`/normalize/${id}`)).json()
    expect(shown).toMatchObject({
      file_ids: { output },
      outputs: [{ ...fileFields("talk.wav"), id: output }],
      download_url: fileUrl("output.wav"),
    })
    expect(await (await caller.call(`/files/${output}`)).json()).toMatchObject({ id: output })
  })
})

describe("the webhook of a job in the Job form", () => {
  it.each(["transcode", "transcribe"])("sends the answer of GET /jobs/{id}: %s", async (kind) => {
    const fields = { source: `svc_id://${await putFile()}`, webhook_url: "https://a.example/" }
    const outputs = [{ codec: "h264", resolution: "480p" }]
    const isTranscode = kind === "transcode"
    const id = await create(`/${kind}`, isTranscode ? { ...fields, outputs } : fields)
    const result = isTranscode ? makeRenderResult("out_1") : makeTranscribeResult()
    await end(id, isTranscode ? "render" : kind, { result })
    expect(await deliveryOf(id)).toEqual({
      type: `${kind}.succeeded`,
      data: await (await caller.call(`/jobs/${id}`)).json(),
    })
  })

  it("sends the native record for the field webhook beside source", async () => {
    const fields = { source: `svc_id://${await putFile()}`, webhook: "https://a.example/" }
    const id = await create("/transcribe", fields)
    await end(id, "transcribe", { result: makeTranscribeResult() })
    expect(await deliveryOf(id)).toMatchObject({
      data: await (await caller.call(`/transcribe/${id}`)).json(),
    })
  })
})

async function deliveryOf(jobId: string): Promise<{ type: string; data: unknown }> {
  const { type, body } = await readStoredWebhook(jobId)
  const { data } = z.looseObject({ data: z.unknown() }).parse(JSON.parse(body))
  return { type, data }
}
