import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { newId } from "../../src/ids.ts"
import { accountOf } from "../support/bundle.ts"
import { makeCaller } from "../support/caller.ts"
import type { Caller } from "../support/caller.ts"

const KB = 1024

type Command = { id: string; original_request: object; output_files: object }

let caller: Caller

beforeAll(async () => {
  caller = await makeCaller("lists")
})

/** A request of about so many characters, by comments in its commands. */
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

/** Jobs of the account straight in the database, with values as long as rows have them. */
async function insertJobs(count: number, values: { request: object; result: object | null }) {
  const accountId = await accountOf(caller)
  const rows = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`
  await env.DB.prepare(
    `insert into jobs (id, account_id, kind, state, version, priority, request, result, origin,
       processing_ms, attempts, created_at, accepted_at, completed_at) ${rows}
     select printf('%s%012x', ?, i), ?, 'command', 'succeeded', 0, 50, ?, ?, 'https://x', 0, 0, 0, 0, 0
     from n`,
  )
    .bind(
      newId().slice(0, 24),
      accountId,
      JSON.stringify(values.request),
      JSON.stringify(values.result),
    )
    .run()
}

describe("in the list of commands", () => {
  it.each([
    [1, false],
    [14, false],
    [20, true],
    [960, true],
  ])("a request of %i KB is truncated: %s; GET shows it whole", async (length, isTruncated) => {
    const request = requestOf(length * KB)
    const id = await create(request)
    const [listed] = await (await caller.call("/commands?limit=1")).json<Command[]>()
    expect(listed).toMatchObject({ id, output_files: request.output_files })
    expect(listed?.original_request).toEqual(isTruncated ? { truncated: true } : request)
    const whole = await (await caller.call(`/commands/${id}`)).json<Command>()
    expect(whole.original_request).toEqual(request)
  })

  it("a hundred of the longest rows are few KB each, and of jobs fewer", async () => {
    const files = Array.from({ length: 300 }, (_, index) => ({
      name: `frame_${index}.png`,
      size_bytes: 1,
      content_type: "image/png",
    }))
    const output = { key: "out_1", fileId: newId(), name: "f.zip", sizeBytes: 1 }
    const outputs = [{ ...output, contentType: "application/zip", files }]
    const names = Array.from({ length: 60 }, (_, index) => [`out_${index}`, "n".repeat(300)])
    const request = { ...requestOf(12 * KB), output_files: Object.fromEntries(names) }
    await insertJobs(100, { request, result: { outputs, hasLog: true } })
    const commands = await (await caller.call("/commands?limit=100")).text()
    expect(commands.length).toBeLessThan(100 * KB)
    const listed: Command[] = JSON.parse(commands)
    expect(listed).toHaveLength(100)
    expect(listed[0]).toMatchObject({
      original_request: { truncated: true },
      output_files: { out_1: { name: "f.zip" } },
    })
    expect(commands).toContain("/log")
    const jobs = await (await caller.call("/jobs?limit=100")).text()
    expect(jobs.length).toBeLessThan(60 * KB)
  })
})

describe("a page of a list", () => {
  const LISTS = ["/jobs", "/commands", "/files", "/fetch", "/normalize", "/transcribe"]

  it.each([...LISTS, "/webhooks/deliveries", "/keys"])(
    "of %s skips 10,000 rows at most, beyond which the cursor leads",
    async (path) => {
      expect((await caller.call(`${path}?offset=10000`)).status).toBe(200)
      const refused = await caller.call(`${path}?offset=10001`)
      expect(refused.status).toBe(422)
      const { details } = await refused.json<{ details: object[] }>()
      expect(details).toEqual([
        expect.objectContaining({
          field: "offset",
          message:
            "expected a whole number from 0 to 10000; beyond it, follow the cursor of the Link header",
        }),
      ])
    },
  )
})
