import { beforeAll, describe, expect, it } from "vitest"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { fetchWorker, makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { readProblem } from "../../../support/problem.ts"
import { endOnlyTask } from "../../../support/tasks.ts"
import { finishTranscription, makeTranscript } from "../../../support/media/transcribed.ts"

let caller: TestCaller
let id: string

async function create(): Promise<string> {
  const { id: fileId } = await uploadTestFile(caller, "talk.mp3", "sound")
  const answer = await caller.post("/transcribe", { file_url: `svc_id://${fileId}` })
  return (await answer.json<{ transcribe_id: string }>()).transcribe_id
}

beforeAll(async () => {
  caller = await makeCaller("downloads transcripts")
  id = await create()
  await finishTranscription(caller, id)
})

describe("GET /transcribe/{id}/{name}", () => {
  it.each([
    ["json", "application/json"],
    ["srt", "application/x-subrip"],
    ["vtt", "text/vtt"],
    ["txt", "text/plain; charset=utf-8"],
  ])("redirects to a link that needs no key, to the transcript as %s", async (format, type) => {
    const answer = await caller.call(`/transcribe/${id}/transcript.${format}`)
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([302, "no-store"])
    const shown = await fetchWorker(answer.headers.get("location") ?? "")
    expect([shown.status, shown.headers.get("content-type")]).toEqual([200, type])
    const disposition = `attachment; filename=transcript.${format}`
    expect(shown.headers.get("content-disposition")).toBe(disposition)
    expect(await shown.text()).toBe(makeTranscript(format))
  })

  it.each(["json", "vtt", "txt"])("has browsers show %s if requested", async (format) => {
    const answer = await caller.call(`/transcribe/${id}/transcript.${format}?disposition=inline`)
    const shown = await fetchWorker(answer.headers.get("location") ?? "")
    expect(shown.headers.get("content-disposition")).toMatch(/^inline; /)
    await shown.body?.cancel()
  })

  it("answers 404 for other names and other accounts' transcriptions", async () => {
    for (const name of ["srt", "transcript.SRT", "transcript", "transcript.doc"]) {
      expect((await caller.call(`/transcribe/${id}/${name}`)).status).toBe(404)
    }
    expect((await caller.call(`/fetch/${id}/transcript.srt`)).status).toBe(404)
    const stranger = await makeCaller("a stranger to transcripts")
    expect((await stranger.call(`/transcribe/${id}/transcript.srt`)).status).toBe(404)
  })

  it("asks to wait while the transcription is open", async () => {
    const early = await caller.call(`/transcribe/${await create()}/transcript.srt`)
    expect(early.status).toBe(409)
    expect((await readProblem(early)).code_name).toBe("not_final")
  })

  it("names the cause of a failed transcription", async () => {
    const failed = await create()
    const failure = { code: "no_audio" as const, message: "There is no sound." }
    await endOnlyTask(await findCallerAccountId(caller), failed, { failure })
    const late = await caller.call(`/transcribe/${failed}/transcript.srt`)
    expect(late.status).toBe(404)
    expect((await readProblem(late)).message).toBe(
      "The transcription failed and has no file: no_audio: There is no sound.",
    )
  })
})
