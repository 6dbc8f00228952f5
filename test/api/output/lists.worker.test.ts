import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { newId } from "../../../src/platform/ids.ts"
import { computeEndTransition } from "../../../src/jobs/settle/transitions.ts"
import { transitionJob } from "../../../src/jobs/settle/settle.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { makeIncompressibleText } from "../../support/media/noise.ts"

const KB = 1024

type Command = { id: string; original_request: object; output_files: object }

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("lists")
})

/** Returns a request of about `length` characters, filled up by comments in its commands. */
function requestOf(length: number) {
  const comment = "y".repeat(Math.min(length, 50_000))
  const line = `ffmpeg -f lavfi -i testsrc2=d=1 -metadata comment=${comment} {{out_1}}`
  const lines = Array.from({ length: Math.ceil(length / 50_000) }, () => line)
  return { input_files: {}, output_files: { out_1: "o.mp4" }, ffmpeg_commands: lines }
}

async function create(body: object): Promise<string> {
  const answer = await caller.post("/commands", body)
  if (answer.status !== 202) throw new Error(await answer.text())
  return (await answer.json<{ command_id: string }>()).command_id
}

/** Copies the row of a job many times, each with its own id. */
async function copyJob(id: string, count: number): Promise<void> {
  const { results } = await env.DB.prepare("select name from pragma_table_info('jobs')").all<{
    name: string
  }>()
  const columns = results.map(({ name }) => name)
  const values = columns.map((name) => {
    if (name === "id") return "printf('%s%012x', ?2, n.i)"
    return name === "state" ? "'succeeded'" : name
  })
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`
  await env.DB.prepare(
    `insert into jobs (${columns.join()}) ${numbers} select ${values.join()} from jobs, n where id = ?1`,
  )
    .bind(id, newId().slice(0, 24))
    .run()
}

describe("the list of commands", () => {
  it.each([
    [1, false],
    [14, false],
    [20, true],
    [960, true],
  ])(
    "truncates a request of %i KB: %s; GET shows the whole request",
    async (length, isTruncated) => {
      const request = requestOf(length * KB)
      const id = await create(request)
      const [listed] = await (await caller.call("/commands?limit=1")).json<Command[]>()
      expect(listed).toMatchObject({ id, output_files: request.output_files })
      expect(listed?.original_request).toEqual(isTruncated ? { truncated: true } : request)
      const whole = await (await caller.call(`/commands/${id}`)).json<Command>()
      expect(whole.original_request).toEqual(request)
    },
  )

  it("has few KB for each of the hundred longest rows, and the list of jobs fewer", async () => {
    const files = Array.from({ length: 300 }, (_, index) => ({
      name: `frame_${index}.png`,
      size_bytes: 1,
      content_type: "image/png",
    }))
    const output = { key: "out_1", fileId: newId(), name: "f.zip", sizeBytes: 1 }
    const result = {
      outputs: [{ ...output, contentType: "application/zip", files }],
      hasLog: true,
    }
    const names = Array.from({ length: 60 }, (_, at) => [
      `out_${at}`,
      `${makeIncompressibleText(190, { seed: at + 1 })}.mp4`,
    ])
    const line = `ffmpeg -f lavfi -i testsrc2=d=1 ${names.map(([key]) => `{{${key}}}`).join(" ")}`
    const id = await create({
      ffmpeg_commands: [
        `${line} -metadata comment=${makeIncompressibleText(12 * KB)} {{out_last}}`,
      ],
      input_files: {},
      output_files: { ...Object.fromEntries(names), out_last: "last.mp4" },
    })
    const accountId = await findCallerAccountId(caller)
    await transitionJob(env, { accountId, jobId: id }, (read) => {
      const failure = { code: "canceled" as const, message: "Canceled.", lines: [] }
      const ended = computeEndTransition(read, { state: "canceled", failure, now: Date.now() })
      return { ...ended, job: { ...ended.job, result } }
    })
    await copyJob(id, 100)
    const commands = await (await caller.call("/commands?limit=100")).text()
    // The ids of 61 outputs take 3 KB.
    expect(commands.length).toBeLessThan(400 * KB)
    const listed: Command[] = JSON.parse(commands)
    expect(listed).toHaveLength(100)
    expect(listed[0]).toMatchObject({
      original_request: { truncated: true },
      output_files: { out_1: { name: "f.zip" } },
    })
    expect(commands).toContain("/log")
    const jobs = await (await caller.call("/jobs?limit=100")).text()
    expect(jobs.length).toBeLessThan(360 * KB)
  })
})

describe("a page of a list", () => {
  const LISTS = ["/jobs", "/commands", "/files", "/fetch", "/normalize", "/transcribe"]

  it.each([...LISTS, "/webhooks/deliveries", "/keys"])(
    "of %s skips at most 10,000 rows; the cursor reaches further",
    async (path) => {
      expect((await caller.call(`${path}?offset=10000`)).status).toBe(200)
      const refused = await caller.call(`${path}?offset=10001`)
      expect(refused.status).toBe(422)
      const { details } = await refused.json<{ details: object[] }>()
      expect(details).toEqual([
        expect.objectContaining({
          field: "offset",
          message:
            "expected a whole number from 0 to 10000; for later rows, follow the cursor of the Link header",
        }),
      ])
    },
  )
})
