import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { normalizeTaskDefinition } from "../../../src/contract/tasks/normalize.ts"
import { findCallerAccountId, startCommandTask } from "../../support/media/bundle.ts"
import { makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { makeNormalizeResult } from "../../support/media/normalized.ts"
import { readProblem } from "../../support/problem.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  makeImportEnd,
  PROBE_TASK_END,
  readJob,
} from "../../support/runner/stand-in-runner.ts"
import { readStoredWebhook } from "../../support/stored-webhook.ts"

const PAGE = "https://media.example/talk.mp3"

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`normalize ${crypto.randomUUID()}`)
  accountId = await findCallerAccountId(caller)
})

// Ends open jobs, since they would hold slots that the next test needs.
afterEach(async () => {
  const jobs = await (await caller.call("/jobs?limit=100")).json<{ id: string }[]>()
  for (const { id } of jobs) await caller.call(`/jobs/${id}`, { method: "DELETE" })
})

async function create(fields: object = {}): Promise<{ id: string; fileId: string }> {
  const file = await uploadTestFile(caller, "Talk.WAV", "bytes")
  const answer = await caller.post("/normalize", { file_url: `svc_id://${file.id}`, ...fields })
  if (answer.status !== 202) throw new Error(await answer.text())
  const { normalization_id: id } = await answer.json<{ normalization_id: string }>()
  await claimAndEndTask(await findTaskByKind(accountId, file.id, "probe"), PROBE_TASK_END)
  return { id, fileId: file.id }
}

async function read(path: string): Promise<Record<string, unknown>> {
  const answer = await caller.call(path)
  return answer.status === 200 ? await answer.json() : { gone: answer.status }
}

function urlOf(fileId: string | undefined, name: string): string {
  return `https://lathe.test/v1/files/${fileId}/${name}`
}

function taskOf(id: string) {
  return findTaskByKind(accountId, id, "normalize")
}

describe("POST /normalize", () => {
  it("defaults to EBU R 128", async () => {
    const { id, fileId } = await create()
    const { work } = await taskOf(id)
    expect(normalizeTaskDefinition.work.parse(work)).toMatchObject({
      target: { integrated_lufs: -23, range_lu: 20, true_peak_dbtp: -1 },
      outputs: [{ key: "output", name: "output.wav" }],
    })
    expect(await read(`/normalize/${id}`)).toMatchObject({
      id,
      file_id: fileId,
      loudnorm_i: -23,
      loudnorm_lra: 20,
      loudnorm_tp: -1,
      total_processing_seconds: 0,
    })
  })

  it.each([
    ["loudnorm_i", [-70, -5], [-70.1, -4.9]],
    ["loudnorm_lra", [1, 50], [0.9, 50.1]],
    ["loudnorm_tp", [-9, 0], [-9.1, 0.1]],
  ])("accepts %s within its bounds and names it outside of them", async (field, taken, refused) => {
    const { id: fileId } = await uploadTestFile(caller, "talk.wav", "bytes")
    const file_url = `svc_id://${fileId}`
    for (const value of taken) {
      const answer = await caller.post("/normalize", { file_url, [field]: value })
      expect([value, answer.status]).toEqual([value, 202])
    }
    for (const value of [...refused, "-16", null]) {
      const answer = await caller.post("/normalize", { file_url, [field]: value })
      expect([value, answer.status]).toEqual([value, 422])
      const { details } = await readProblem(answer)
      expect(details).toMatchObject([
        { field, message: expect.stringMatching(/ from .+ to .+ \(/) },
      ])
    }
  })

  it.each<[string, () => unknown, string]>([
    ["no file_url", () => undefined, "invalid_field"],
    ["a number", () => 7, "invalid_field"],
    ["a malformed reference", () => "talk.wav", "invalid_reference"],
    ["a missing file", () => `svc_id://${crypto.randomUUID()}`, "no_such_file"],
    ["a private address", () => "http://10.0.0.1/a.wav", "url_not_allowed"],
    ["a series of files", seriesOf, "series_as_input"],
  ])("refuses %s as its input", async (_, file_url, code) => {
    const answer = await caller.post("/normalize", { file_url: await file_url(), loudnorm_i: 0 })
    expect(answer.status).toBe(422)
    const { details } = await readProblem(answer)
    expect(details.map((each) => `${each.field} ${each.code}`).toSorted()).toEqual([
      `file_url ${code}`,
      "loudnorm_i invalid_field",
    ])
  })

  async function seriesOf(): Promise<string> {
    const task = await startCommandTask(caller, { out_1: "shot_%d.png" })
    const members = [await task.store("out_1", "shot_1.png", "png", "image/png")]
    const output = { key: "out_1", size_bytes: 3, content_type: "application/zip", members }
    await task.finish([output])
    return `svc_id://${task.fileIds["out_1"]}`
  }
})

describe("a normalization that succeeded", () => {
  async function normalized(changes = {}, fields: object = {}) {
    const made = await create(fields)
    expect(
      await claimAndEndTask(await taskOf(made.id), { result: makeNormalizeResult(changes) }),
    ).toBe("ok")
    return made
  }

  it("has its measurements, its type and the URL of its output", async () => {
    const { id, fileId } = await normalized()
    const { outputs, measurements } = makeNormalizeResult()
    const shown = await read(`/normalize/${id}`)
    const files = await (await caller.call("/files?source=output")).json<{ id: string }[]>()
    expect(files).toMatchObject([{ name: "Talk.wav", status: "success", size_bytes: 9 }])
    expect(shown).toMatchObject({
      id,
      file_id: fileId,
      status: "success",
      progress: 100,
      total_processing_seconds: 1,
      download_url: `https://lathe.test/v1/files/${files[0]?.id}/output.wav`,
      outputs: [
        { id: files[0]?.id, name: "Talk.wav", url: urlOf(files[0]?.id, "Talk.wav"), size_bytes: 9 },
      ],
      size_bytes: 9,
      content_type: outputs[0]?.content_type,
      duration_seconds: 2.5,
      measurements,
      normalization_type: "linear",
      target_reached: true,
      container: "wav",
      codec: "pcm_s16le",
      converted_from: null,
      warnings: [],
    })
    expect(await (await caller.call("/normalize?status=success")).json()).toEqual([shown])
  })

  it("has the final name of its output, and its warnings", async () => {
    const [output] = makeNormalizeResult().outputs
    const warnings = [{ code: "format_changed" as const, message: "It is FLAC now." }]
    const { id } = await normalized({
      outputs: [{ ...output, name: "output.flac", content_type: "audio/flac" }],
      format: { container: "flac", codec: "flac" },
      converted_from: { container: "wma", codec: "wmav2" },
      warnings,
    })
    const shown = await read(`/normalize/${id}`)
    expect(shown).toMatchObject({
      download_url: expect.stringMatching(/\/output\.flac$/),
      outputs: [{ name: "Talk.flac", url: expect.stringMatching(/\/Talk\.flac$/) }],
      container: "flac",
      converted_from: { container: "wma", codec: "wmav2" },
      warnings,
    })
  })

  it("is a Job with its output, and its webhook carries the response of GET", async () => {
    const { id } = await normalized({}, { webhook: "https://receiver.example/" })
    const shown = await caller.call(`/normalize/${id}`)
    const text = await shown.text()
    const { outputs } = JSON.parse(text)
    expect(outputs).toMatchObject([{ codec: "pcm_s16le", duration_seconds: 2.5, size_bytes: 9 }])
    expect(await read(`/jobs/${id}`)).toMatchObject({
      kind: "normalize",
      status: "completed",
      outputs,
    })
    const { type, body } = await readStoredWebhook(id)
    expect(type).toBe("normalize.succeeded")
    expect(body).toContain(`"data":${text}}`)
  })

  it("is downloaded by the fixed name and by that of its File, and saved as its File", async () => {
    const { id } = await normalized()
    const { download_url, outputs } = await read(`/normalize/${id}`)
    const [output] = z.array(z.looseObject({ id: z.string(), url: z.url() })).parse(outputs)
    for (const url of [String(download_url), output?.url ?? ""]) {
      const link = await caller.call(url.slice("https://lathe.test/v1".length))
      expect([link.status, link.headers.get("location")]).toEqual([
        302,
        expect.stringMatching(/\/Talk\.wav$/),
      ])
    }
    for (const name of ["output.mp3", "output", "talk.wav"]) {
      expect((await caller.call(`/files/${output?.id}/${name}`)).status).toBe(404)
    }
  })

  it.each([
    ["Der Vortrag.mov", "output.mp4", "Der Vortrag.mp4"],
    ["talk.tar.gz", "output.wav", "talk.tar.wav"],
    ["no extension", "output", "no extension"],
    [".wav", "output.wav", "output.wav"],
    [`${"ä".repeat(196)}.wav`, "output.flac", `${"ä".repeat(189)}.flac`],
  ])("is named after an import called %s", async (name, written, expected) => {
    const answer = await caller.post("/normalize", { file_url: PAGE })
    const { normalization_id: id } = await answer.json<{ normalization_id: string }>()
    await claimAndEndTask(await findTaskByKind(accountId, id, "import"), makeImportEnd({ name }))
    await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), PROBE_TASK_END)
    const outputs = makeNormalizeResult().outputs.map((output) => ({ ...output, name: written }))
    const result = makeNormalizeResult({ outputs })
    await claimAndEndTask(await taskOf(id), { result })
    const { download_url, ...shown } = await read(`/normalize/${id}`)
    expect(shown["outputs"]).toMatchObject([{ name: expected }])
    expect(download_url).toMatch(new RegExp(`/${written.replace(".", "[.]")}$`))
  })

  it("is deleted with its output, and its input stays", async () => {
    const { id, fileId } = await normalized()
    expect((await caller.call(`/normalize/${id}`, { method: "DELETE" })).status).toBe(200)
    expect(await read(`/normalize/${id}`)).toEqual({ gone: 404 })
    const files = await (await caller.call("/files")).json<{ id: string }[]>()
    expect(files.map((file) => file.id)).toEqual([fileId])
  })

  it("refuses a malformed result", async () => {
    const { id } = await create()
    const result = { ...makeNormalizeResult(), outputs: [] }
    expect(await claimAndEndTask(await taskOf(id), { result })).toBe("invalid")
  })
})

describe("a normalization that failed", () => {
  it("has the code no_audio for an input without audio", async () => {
    const { id } = await create()
    const failure = { code: "no_audio" as const, message: "The input has no audio stream." }
    await claimAndEndTask(await taskOf(id), { failure })
    const shown = await read(`/normalize/${id}`)
    expect(shown).toMatchObject({
      status: "failed",
      error_code: "no_audio",
      error: "The input has no audio stream.",
    })
    expect(shown).not.toHaveProperty("download_url")
    expect(await (await caller.call("/files?source=output")).json()).toEqual([])
  })

  it("imports its URL again for a retry, as another File", async () => {
    const answer = await caller.post("/normalize", { file_url: PAGE, loudnorm_i: -16 })
    const { normalization_id: id } = await answer.json<{ normalization_id: string }>()
    const { file_id: before } = await read(`/normalize/${id}`)
    const { id: importId } = await findTaskByKind(accountId, id, "import")
    expect(before).toBe(importId)
    await claimAndEndTask(await findTaskByKind(accountId, id, "import"), makeImportEnd())
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    const retried = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    const { id: retryId } = await retried.json<{ id: string }>()
    const { file_id: after, loudnorm_i } = await read(`/normalize/${retryId}`)
    expect(loudnorm_i).toBe(-16)
    expect(after).not.toBe(before)
    expect((await readJob(accountId, retryId)).files.map((file) => file.id)).toContain(after)
  })
})
