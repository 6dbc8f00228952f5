import { beforeEach, describe, expect, it } from "vitest"
import type { TaskResult } from "../../../../src/contract/task.ts"
import { NOT_MEDIA_WARNING } from "../../../../src/contract/warning.ts"
import { makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { makeCommandBodyWithInputs } from "../../../support/media/command-request.ts"
import { readProblem } from "../../../support/problem.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  makeImportEnd,
} from "../../../support/runner/stand-in-runner.ts"
import type { ReportedTaskEnd } from "../../../support/runner/stand-in-runner.ts"

/** End of the probe of a file that is no media. */
const NO_MEDIA: ReportedTaskEnd = { result: { kind: "probe", warnings: [NOT_MEDIA_WARNING] } }
const CUT = "The file is cut off: its index (moov atom) is missing. Upload it again."
const BROKEN: ReportedTaskEnd = { failure: { code: "probe_failed", message: CUT } }

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`data files ${crypto.randomUUID()}`)
  accountId = await findCallerAccountId(caller)
})

async function read(path: string): Promise<Record<string, unknown>> {
  return await (await caller.call(path)).json()
}

/** Uploads a file and ends its probe. */
async function makeFile(name: string, end: ReportedTaskEnd): Promise<string> {
  const { id } = await uploadTestFile(caller, name, "bytes")
  await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), end)
  return id
}

/** End of the probe of media with these streams. */
function probed(...streams: Record<string, unknown>[]): ReportedTaskEnd {
  const probe = { format_name: "mov", streams, format: {} }
  return { result: { kind: "probe", probe } satisfies TaskResult }
}

const SOUND = { codec_type: "audio", codec_name: "aac" }
const PICTURE = { codec_type: "video", codec_name: "h264" }
const COVER = { ...PICTURE, codec_name: "mjpeg", disposition: { attached_pic: 1 } }

describe("a File that is no media", () => {
  it("is a success without a probe, with a warning, and an output of its job", async () => {
    const id = await makeFile("look.cube", NO_MEDIA)
    const file = await read(`/files/${id}`)
    expect(file).toMatchObject({ status: "success", ffprobe: null, warnings: [NOT_MEDIA_WARNING] })
    expect(Object.keys(file)).not.toEqual(expect.arrayContaining(["error"]))
    expect(Object.keys(file)).not.toEqual(expect.arrayContaining(["ffprobe_error"]))
    expect(await read(`/jobs/${id}`)).toMatchObject({
      status: "completed",
      outputs: [{ url: expect.stringContaining("look.cube") }],
      warnings: [NOT_MEDIA_WARNING],
    })
    expect(await read("/files?status=success")).toMatchObject([{ id, ffprobe: null }])
  })

  it("is the same as an imported input of another job, whose own warnings are empty", async () => {
    const request = makeCommandBodyWithInputs({ in_1: "https://media.example/look.cube" })
    const created = await caller.post("/commands", request)
    const { command_id: id } = await created.json<{ command_id: string }>()
    const { id: fileId } = await findTaskByKind(accountId, id, "import")
    const source = makeImportEnd({ name: "look.cube", content_type: "application/octet-stream" })
    await claimAndEndTask(await findTaskByKind(accountId, id, "import"), source)
    await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), {
      result: { kind: "probe" },
    })
    expect(await read(`/files/${fileId}`)).toMatchObject({
      status: "success",
      ffprobe: null,
      warnings: [NOT_MEDIA_WARNING],
    })
    expect(await read(`/commands/${id}`)).toMatchObject({ status: "running", warnings: [] })
  })
})

describe("a File that is broken media", () => {
  it("is failed, with the remedy and with the lines of ffprobe", async () => {
    const id = await makeFile("half.mp4", BROKEN)
    const expected = { status: "failed", error_code: "probe_failed", error: CUT, ffprobe: null }
    expect(await read(`/files/${id}`)).toMatchObject({ ...expected, ffprobe_error: "a line" })
    expect(await read(`/jobs/${id}`)).toMatchObject({ processing_errors: [CUT, "a line"] })
  })
})

describe("a create", () => {
  const SOUNDLESS = /^expected media with sound, and "silent\.mp4" has no audio stream$/
  const cases: [path: string, name: string, end: ReportedTaskEnd, code: string, message: RegExp][] =
    [
      ["/normalize", "half.mp4", BROKEN, "probe_failed", /failed its probe: The file is cut off/],
      ["/normalize", "look.cube", NO_MEDIA, "no_audio", /"look\.cube" is no media$/],
      ["/normalize", "silent.mp4", probed(PICTURE), "no_audio", SOUNDLESS],
      ["/transcribe", "half.mp4", BROKEN, "probe_failed", /failed its probe: /],
      [
        "/transcribe",
        "words.txt",
        NO_MEDIA,
        "no_audio",
        /^expected media with sound, .* no media$/,
      ],
      ["/transcribe", "silent.mp4", probed(PICTURE), "no_audio", SOUNDLESS],
      ["/transcode", "half.mp4", BROKEN, "probe_failed", /^expected media with a picture, /],
      ["/transcode", "font.ttf", NO_MEDIA, "no_video", /is no media$/],
      ["/transcode", "song.mp3", probed(SOUND, COVER), "no_video", /has no video stream$/],
    ]

  it.each(cases)("of %s with %s is refused", async (path, name, end, code, message) => {
    const input = `svc_id://${await makeFile(name, end)}`
    const answer = await caller.post(path, bodyOf(path, input))
    const field = path === "/transcode" ? "source" : "file_url"
    expect(answer.status).toBe(path === "/transcode" ? 400 : 422)
    const { details } = await readProblem(answer)
    expect(details).toEqual([{ field, code, message: expect.stringMatching(message) }])
  })

  it.each([
    ["/normalize", probed(SOUND)],
    ["/transcribe", probed(PICTURE, SOUND)],
    ["/transcode", probed(PICTURE)],
    // A large probe has no streams in its row.
    ["/normalize", probed()],
    ["/transcode", probed()],
  ])("of %s with a File that may serve is accepted", async (path, end) => {
    const input = `svc_id://${await makeFile("clip.mp4", end)}`
    expect((await caller.post(path, bodyOf(path, input))).status).toBe(202)
  })

  it.each(["/normalize", "/transcribe", "/transcode"])(
    "of %s with a File that is not probed yet is accepted",
    async (path) => {
      const { id } = await uploadTestFile(caller, "words.txt", "bytes")
      expect((await caller.post(path, bodyOf(path, `svc_id://${id}`))).status).toBe(202)
    },
  )

  it("of a command takes a File that is no media, and one that is broken", async () => {
    const in_1 = `svc_id://${await makeFile("look.cube", NO_MEDIA)}`
    const in_2 = `svc_id://${await makeFile("half.mp4", BROKEN)}`
    const answer = await caller.post("/commands", makeCommandBodyWithInputs({ in_1, in_2 }))
    expect(answer.status).toBe(202)
  })
})

function bodyOf(path: string, input: string): object {
  if (path !== "/transcode") return { file_url: input }
  return { source: input, outputs: [{ codec: "h264", resolution: "480p" }] }
}
