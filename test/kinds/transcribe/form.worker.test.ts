import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { countAccountData, NO_ACCOUNT_DATA } from "../../support/left-over.ts"
import { readProblem } from "../../support/problem.ts"
import { findTaskByKind } from "../../support/runner/stand-in-runner.ts"

const URL = "https://media.example/talk.mp3"

const accepted = z.looseObject({ transcribe_id: z.uuid(), status: z.string() })

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID())
  accountId = await findCallerAccountId(caller)
})

async function send(fields: Record<string, string>, content?: string): Promise<Response> {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  if (content !== undefined) body.append("file", new File([content], "talk.mp3"))
  return await caller.call("/transcribe", { method: "POST", body })
}

describe("POST /transcribe as a form", () => {
  it("transcribes its uploaded file, which becomes a File", async () => {
    const fields = { language: "nb", format: "vtt", words_per_cue: "5", prompt: "42" }
    const answer = await send(fields, "sound")
    expect(answer.status).toBe(202)
    const { transcribe_id: id } = accepted.parse(await answer.json())
    const shown = await caller.call(`/transcribe/${id}`)
    const { file_id } = z.looseObject({ file_id: z.uuid() }).parse(await shown.json())
    const file = await caller.call(`/files/${file_id}`)
    expect(await file.json()).toMatchObject({ name: "talk.mp3", source: "upload" })
    const { work } = await findTaskByKind(accountId, id, "transcribe")
    expect(work).toMatchObject({ language: "no", words_per_cue: 5, prompt: "42" })
    await caller.call(`/transcribe/${id}`, { method: "DELETE" })
    expect((await caller.call(`/files/${file_id}`)).status).toBe(200)
  })

  it.each(["file_url", "source"])("imports the URL in %s", async (field) => {
    const answer = await send({ [field]: URL, max_line_length: "30" })
    expect(answer.status).toBe(202)
    const { transcribe_id: id } = accepted.parse(await answer.json())
    expect((await findTaskByKind(accountId, id, "import")).work).toMatchObject({ url: URL })
    const { work } = await findTaskByKind(accountId, id, "transcribe")
    expect(work).toMatchObject({ max_line_length: 30 })
  })

  it.each<[string, Record<string, string>, string | undefined]>([
    ["file", {}, undefined],
    ["file", {}, ""],
    ["file_url", { file_url: URL }, "sound"],
    ["words_per_cue", { words_per_cue: "many" }, "sound"],
    ["language", { language: "xx" }, "sound"],
    ["model", { model: "huge" }, "sound"],
    ["webhook_url", { webhook_url: "https://receiver.example/" }, "sound"],
    ["nonsense", { nonsense: "1" }, "sound"],
  ])("names %s in a 422 and leaves nothing behind: %o", async (field, fields, content) => {
    const answer = await send(fields, content)
    expect(answer.status).toBe(422)
    const { details } = await readProblem(answer)
    expect(details.map((fault) => fault.field)).toEqual([field])
    await expect.poll(() => countAccountData(accountId)).toEqual(NO_ACCOUNT_DATA)
  })

  it.each<[RegExp, Record<string, string>, string | undefined]>([
    [/^source: expected exactly one of /, { source: URL }, "sound"],
    [/source: expected exactly one of /, { source: URL, file_url: URL }, undefined],
    [/source: expected exactly one of /, { source: URL, file_url: URL }, "sound"],
    [/^file: the file is empty/, { source: URL }, ""],
    [/^format: expected one of /, { source: URL, format: "txt" }, undefined],
  ])(
    "in the Job form is refused with a 400 and the message %s: %o",
    async (message, fields, content) => {
      const answer = await send(fields, content)
      expect(answer.status).toBe(400)
      const problem = await readProblem(answer)
      expect(problem.message).toMatch(message)
      expect(problem.details).not.toEqual([])
      await expect.poll(() => countAccountData(accountId)).toEqual(NO_ACCOUNT_DATA)
    },
  )
})

describe("a JSON body with the bytes of a file", () => {
  it("is refused with a hint at the form", async () => {
    const answer = await caller.post("/transcribe", { file: "sound" })
    expect(answer.status).toBe(422)
    const { details } = await readProblem(answer)
    expect(details).toMatchObject([
      { field: "file", message: expect.stringContaining("multipart/form-data") },
    ])
    const { id } = await uploadTestFile(caller, "talk.mp3", "sound")
    const both = await caller.post("/transcribe", { source: `svc_id://${id}`, file: "sound" })
    expect(both.status).toBe(400)
    expect((await readProblem(both)).message).toMatch(/^file: /)
  })
})
