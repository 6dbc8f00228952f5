import { beforeAll, describe, expect, it } from "vitest"
import { BUNDLE_MEMBERS_MAX } from "../../../src/contract/bundle.ts"
import { startCommandTask } from "../../support/media/bundle.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { makeLongBundleMembers } from "../../support/media/long-members.ts"

const WEBHOOK = "https://receiver.example/"

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("large reports")
})

async function readCommand(id: string): Promise<{ status: string; error_code?: string }> {
  return await (await caller.call(`/commands/${id}`)).json()
}

describe("an oversized report", () => {
  const finished = { kind: "finished", boot: "boot", processing_seconds: 1 }
  const plain = { key: "out_1", size_bytes: 3, content_type: "video/mp4" }
  const probe = { format_name: "mp4", streams: [], format: {} }

  function outputs(some: unknown[]) {
    const at = new Date().toISOString()
    return JSON.stringify({ ...finished, at, result: { kind: "command", outputs: some } })
  }
  const nested = `{"format_name":"a","streams":[],"format":{"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`

  it.each<[string, () => string]>([
    ["20 MB", () => outputs([{ ...plain, probe_error: "x".repeat(20_000_000) }])],
    ["20 MB of invalid JSON", () => "x".repeat(20_000_000)],
    [
      "too many files",
      () => outputs([{ ...plain, members: makeLongBundleMembers(BUNDLE_MEMBERS_MAX + 1) }]),
    ],
    ["too many outputs", () => outputs(Array.from({ length: 2000 }, () => plain))],
    ["an endless media type", () => outputs([{ ...plain, content_type: "x".repeat(100_000) }])],
    [
      "an endless format",
      () => outputs([{ ...plain, probe: { ...probe, format_name: "x".repeat(3_000_000) } }]),
    ],
    [
      "an endlessly nested probe",
      () => outputs([{ ...plain, probe: "NESTED" }]).replace('"NESTED"', nested),
    ],
  ])("with %s ends its job at once", async (_, write) => {
    const task = await startCommandTask(caller, { out_1: "a.mp4" }, { webhookUrl: WEBHOOK })
    const answer = await task.call("/reports", { method: "POST", body: write() })
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
    const record = await readCommand(task.jobId)
    expect([record.status, record.error_code]).toEqual(["failed", "output_limit"])
  })

  it("of a failure is truncated", async () => {
    const task = await startCommandTask(caller, { out_1: "a.mp4" }, { webhookUrl: WEBHOOK })
    const failure = {
      code: "command_failed",
      message: "m".repeat(100_000),
      lines: Array.from({ length: 3000 }, (_, index) => `${index} ${"\u0001".repeat(2500)}`),
    }
    const at = new Date().toISOString()
    const failed = { ...finished, kind: "failed", at, blame: "caller", failure }
    const body = JSON.stringify({
      ...failed,
      failure: { ...failure, lines: failure.lines.slice(-500) },
    })
    const answer = await task.call("/reports", { method: "POST", body })
    expect(answer.status).toBe(200)
    const shown = await (await caller.call(`/commands/${task.jobId}`)).text()
    expect(JSON.parse(shown)).toMatchObject({ status: "failed", error_code: "command_failed" })
    expect(shown.length).toBeLessThan(150_000)
    expect(shown).toContain("2999 ")
  })

  it("with a probe of megabytes is kept whole", async () => {
    const task = await startCommandTask(caller, { out_1: "a.mp4" }, { webhookUrl: WEBHOOK })
    const tags = { comment: "ü".repeat(2_000_000) }
    const made = [{ ...plain, probe: { ...probe, format: { tags } } }]
    const answer = await task.call("/reports", { method: "POST", body: outputs(made) })
    expect(answer.status).toBe(200)
    const id = task.fileIds["out_1"] ?? ""
    const file = await (await caller.call(`/files/${id}`)).json<{ ffprobe: unknown }>()
    expect(file.ffprobe).toEqual({ ...probe, format: { tags } })
  })
})
