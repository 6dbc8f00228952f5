import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import type { JobResult } from "../../src/db/schema/jobs.ts"
import { newId } from "../../src/platform/ids.ts"
import { transitionJob } from "../../src/jobs/settle/settle.ts"
import { computeEndTransition } from "../../src/jobs/settle/transitions.ts"
import {
  computeMaxExportedValueBytes,
  EXPORTED_ROW_BYTES_MAX,
} from "../../src/db/values/exported-bytes.ts"
import { findCallerAccountId } from "../support/media/bundle.ts"
import { makeCaller } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"
import { makeIncompressibleText } from "../support/media/noise.ts"

const WEBHOOK = `https://receiver.example/${makeIncompressibleText(2000)}`

type RecordBody = {
  status: string
  error?: string
  processing_errors?: string[]
  warnings?: object[]
}

/**
 * Returns a request that compresses badly, with the longest metadata, in characters of three bytes.
 */
function request(length: number) {
  const pairs = Array.from({ length: 10 }, (_, at) => {
    const seed = at + 1
    return [
      makeIncompressibleText(64, { wide: true, seed }),
      makeIncompressibleText(500, { wide: true, seed: 50 + seed }),
    ]
  })
  const comment = makeIncompressibleText(length, { wide: true })
  return {
    ffmpeg_command: `ffmpeg -f lavfi -i testsrc2=d=1 -metadata comment=${comment} {{out_1}}`,
    input_files: {},
    output_files: { out_1: "o.mp4" },
    metadata: Object.fromEntries(pairs),
    webhook: WEBHOOK,
  }
}

async function create(caller: TestCaller, length: number): Promise<string> {
  const answer = await caller.post("/commands", request(length))
  expect(answer.status).toBe(202)
  return (await answer.json<{ command_id: string }>()).command_id
}

/** Returns the bytes of an account's largest row in each table. */
async function largestRows(accountId: string): Promise<Record<string, number>> {
  const largest: Record<string, number> = {}
  for (const table of ["jobs", "tasks", "files", "deliveries"]) {
    const rows = await env.DB.prepare(`select * from ${table} where account_id = ?`)
      .bind(accountId)
      .all()
    const sizes = rows.results.map((row) => {
      return Object.values(row).reduce(
        (sum: number, value) => sum + computeMaxExportedValueBytes(value),
        0,
      )
    })
    largest[table] = Math.max(0, ...sizes)
  }
  return largest
}

function result(outputs: number): JobResult {
  return {
    outputs: Array.from({ length: outputs }, (_, at) => ({
      key: `out_${at}`,
      fileId: newId(),
      name: `${makeIncompressibleText(80, { wide: true, seed: at + 1 })}.mp4`,
      sizeBytes: 1,
      contentType: "video/mp4",
    })),
  }
}

describe("a row keeps within its room", () => {
  it.each([1_000, 12_000, 60_000])(
    "for a failed command of %i wide characters with the longest lines and warnings",
    async (length) => {
      const caller = await makeCaller(`room ${crypto.randomUUID()}`)
      const accountId = await findCallerAccountId(caller)
      const id = await create(caller, length)
      const lines = Array.from({ length: 50 }, (_, at) =>
        makeIncompressibleText(400, { wide: true, seed: at + 1 }),
      )
      const message = makeIncompressibleText(1000, { wide: true })
      const warnings = Array.from({ length: 20 }, (_, at) => ({
        code: "input_damaged" as const,
        message: makeIncompressibleText(1000, { wide: true, seed: at + 1 }),
      }))
      await transitionJob(env, { accountId, jobId: id }, (read) => {
        const failure = { code: "command_failed" as const, message, lines }
        const ended = computeEndTransition(read, { state: "failed", failure, now: Date.now() })
        return { ...ended, job: { ...ended.job, warnings } }
      })
      const rows = await largestRows(accountId)
      expect(Object.entries(rows).filter(([, bytes]) => bytes > EXPORTED_ROW_BYTES_MAX)).toEqual([])
      expect(rows["jobs"]).toBeGreaterThan(EXPORTED_ROW_BYTES_MAX / 2)
      const shown = await (await caller.call(`/commands/${id}`)).json<RecordBody>()
      expect(shown).toMatchObject({ status: "failed", metadata: request(1).metadata })
      // The last lines matter most.
      expect(shown.processing_errors?.[0]).toBe(message)
      const kept = shown.processing_errors?.slice(1) ?? []
      expect(lines.slice(-kept.length || lines.length)).toEqual(kept.length > 0 ? kept : lines)
    },
  )

  it("for a command with results that compress badly, which records and lists still show", async () => {
    const caller = await makeCaller(`room ${crypto.randomUUID()}`)
    const accountId = await findCallerAccountId(caller)
    const id = await create(caller, 3_000)
    const made = result(64)
    await transitionJob(env, { accountId, jobId: id }, (read) => {
      const failure = { code: "canceled" as const, message: "", lines: [] }
      const ended = computeEndTransition(read, { state: "canceled", failure, now: Date.now() })
      return { ...ended, job: { ...ended.job, state: "succeeded", result: made } }
    })
    expect((await largestRows(accountId))["jobs"]).toBeLessThanOrEqual(EXPORTED_ROW_BYTES_MAX)
    const row = env.DB.prepare("select result_object_key from jobs where id = ?").bind(id)
    expect(await row.first("result_object_key")).not.toBeNull()
    const ids = made.outputs.map(({ fileId }) => fileId)
    for (const path of ["/commands?limit=1", `/commands/${id}`, "/jobs?limit=1", `/jobs/${id}`]) {
      const text = await (await caller.call(path)).text()
      expect([path, ids.filter((each) => !text.includes(each))]).toEqual([path, []])
    }
  })
})
