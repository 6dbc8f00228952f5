import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeCommandBody } from "../../../support/media/command-request.ts"

type Refusal = { error: string; code: number; details: { field: string; message: string }[] }

let caller: TestCaller
let fileId: string

beforeAll(async () => {
  caller = await makeCaller("commands")
  fileId = (await uploadTestFile(caller, "clip.mp4", "x")).id
})

function request(changes: Record<string, unknown> = {}) {
  return makeCommandBody(fileId, changes)
}

async function accepted(changes: Record<string, unknown> = {}) {
  const answer = await caller.post("/commands", request(changes))
  if (answer.status !== 202) throw new Error(await answer.text())
  const { command_id: id } = await answer.json<{ command_id: string }>()
  expect(answer.headers.get("location")).toBe(`https://lathe.test/v1/commands/${id}`)
  return await (await caller.call(`/commands/${id}`)).json<Record<string, unknown>>()
}

async function countJobs() {
  return await env.DB.prepare("select count(*) as n from jobs where kind = 'command'").first("n")
}

describe("POST /commands", () => {
  it("accepts a command and shows it unchanged", async () => {
    const asked = request()
    expect(await accepted()).toMatchObject({
      original_request: asked,
      output_files: { out_1: "out.mp4" },
      total_processing_seconds: 0,
      progress: 0,
      metadata: {},
      completed_at: null,
    })
  })

  it.each<[string, Record<string, unknown>]>([
    [
      "a sequence with and without the program",
      {
        ffmpeg_command: undefined,
        ffmpeg_commands: ["ffmpeg -i {{in_1}} a.mp4", "-i a.mp4 out_1"],
      },
    ],
    ["escaped placeholders", { ffmpeg_command: "ffmpeg -i \\{\\{in_1\\}\\} \\{\\{out_1\\}\\}" }],
    ["bare keys", { ffmpeg_command: "ffmpeg -i in_1 out_1" }],
    [
      "no inputs at all",
      {
        ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 out_1",
        input_files: {},
      },
    ],
    [
      "an input that is not named",
      {
        ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 out_1",
      },
    ],
    ["an output name that is not ASCII", { output_files: { out_1: "été 2.mp4" } }],
    ["null for what is not given", { webhook: null, metadata: null }],
    ["metadata and a priority", { metadata: { a: "b" }, priority: 100 }],
  ])("accepts %s", async (_, changes) => {
    const record = await accepted(changes)
    expect(["pending", "running"]).toContain(record["status"])
  })

  it("accepts a File's download_url as the file, and redacts a key in it", async () => {
    const url = `https://lathe.test/v1/files/${fileId}/clip.mp4?key=${caller.key}`
    const record = await accepted({ input_files: { in_1: url } })
    expect(JSON.stringify(record)).not.toContain(caller.key)
    const row = await env.DB.prepare("select * from jobs where id = ?").bind(record["id"]).first()
    expect(JSON.stringify(row)).not.toContain(caller.key)
  })

  it.each<[string, Record<string, unknown>, string]>([
    ["neither command field", { ffmpeg_command: undefined }, "ffmpeg_command"],
    ["both command fields", { ffmpeg_commands: ["-i in_1 out_1"] }, "ffmpeg_command"],
    ["an empty sequence", { ffmpeg_command: undefined, ffmpeg_commands: [] }, "ffmpeg_commands"],
    ["no input_files", { input_files: undefined }, "ffmpeg_command"],
    ["no output_files", { output_files: undefined }, "output_files"],
    ["input_files that is a list", { input_files: [] }, "input_files"],
    ["an unknown key", { ffmpeg_command: "ffmpeg -i {{in_2}} {{out_1}}" }, "ffmpeg_command"],
    ["an unknown bare key", { ffmpeg_command: "ffmpeg -i in_2 out_1" }, "ffmpeg_command"],
    ["an output never named", { ffmpeg_command: "ffmpeg -i in_1 x.mp4" }, "output_files.out_1"],
    ["another program", { ffmpeg_command: "rm -rf {{in_1}} {{out_1}}" }, "ffmpeg_command"],
    ["no program", { ffmpeg_command: "-i {{in_1}} {{out_1}}" }, "ffmpeg_command"],
    ["a variable before it", { ffmpeg_command: "A=b ffmpeg -i in_1 out_1" }, "ffmpeg_command"],
    [
      "another program in a sequence",
      {
        ffmpeg_command: undefined,
        ffmpeg_commands: ["-i in_1 out_1", "ffprobe in_1"],
      },
      "ffmpeg_commands.1",
    ],
    ["unbalanced quotes", { ffmpeg_command: "ffmpeg -i in_1 -vf 'a out_1" }, "ffmpeg_command"],
    ["a number for a command", { ffmpeg_command: 1 }, "ffmpeg_command"],
    ["a name with a folder", { output_files: { out_1: "a/b.mp4" } }, "output_files.out_1"],
    ["a name that climbs", { output_files: { out_1: "..\\b.mp4" } }, "output_files.out_1"],
    ["a name of two lines", { output_files: { out_1: "a\nb.mp4" } }, "output_files.out_1"],
    ["the name of an input", { output_files: { out_1: "in_1.mp4" } }, "output_files.out_1"],
    [
      "a duplicate name",
      {
        ffmpeg_command: "ffmpeg -i in_1 out_1 out_2",
        output_files: { out_1: "a.mp4", out_2: "a.mp4" },
      },
      "output_files.out_2",
    ],
    ["a key that is no key", { input_files: { "in-1": "svc_id://x" } }, "input_files.in-1"],
    [
      "an input that is an output too",
      {
        ffmpeg_command: "ffmpeg -i {{in_1}} {{in_1}}",
        output_files: { in_1: "a.mp4" },
      },
      "output_files.in_1",
    ],
    ["a reference that is none", { input_files: { in_1: "clip.mp4" } }, "input_files.in_1"],
    ["an id that is none", { input_files: { in_1: "svc_id://7" } }, "input_files.in_1"],
    [
      "a missing file",
      {
        input_files: { in_1: `svc_id://${crypto.randomUUID()}` },
      },
      "input_files.in_1",
    ],
    ["a private URL", { input_files: { in_1: "https://10.0.0.1/x.mp4" } }, "input_files.in_1"],
    [
      "a fetch",
      { input_files: { in_1: "https://lathe.test/v1/fetch/1/a.mp4" } },
      "input_files.in_1",
    ],
    ["a field that is none", { output_file: "a" }, "output_file"],
    ["a priority that is a text", { priority: "high" }, "priority"],
    ["metadata that is not texts", { metadata: { a: 1 } }, "metadata.a"],
  ])("refuses %s, names the field and creates nothing", async (_, changes, field) => {
    const before = await countJobs()
    const answer = await caller.post("/commands", request(changes))
    expect(answer.status).toBe(422)
    const refusal = await answer.json<Refusal>()
    expect(refusal).toMatchObject({ error: "validation_error", code: 422 })
    expect(refusal.details.map((detail) => detail.field)).toContain(field)
    expect(await countJobs()).toBe(before)
  })

  it("answers the same for another account's file and an unknown file", async () => {
    const other = await makeCaller("other")
    const details = await Promise.all(
      [fileId, crypto.randomUUID()].map(async (id) => {
        const answer = await other.post(
          "/commands",
          request({ input_files: { in_1: `svc_id://${id}` } }),
        )
        return (await answer.json<Refusal>()).details
      }),
    )
    expect(details[0]).toEqual(details[1])
    expect(details[0]).toEqual([
      { field: "input_files.in_1", code: "no_such_file", message: "the account has no such file" },
    ])
  })

  it.each<[string, RequestInit, number]>([
    ["no JSON", { body: "{", headers: { "content-type": "application/json" } }, 422],
    ["a text", { body: "{}", headers: { "content-type": "text/plain" } }, 415],
    [
      "more than a body may have",
      { body: `"${"x".repeat(1024 * 1024)}"`, headers: { "content-type": "application/json" } },
      413,
    ],
  ])("refuses %s", async (_, init, status) => {
    const answer = await caller.call("/commands", { method: "POST", ...init })
    expect(answer.status).toBe(status)
  })
})

describe("the commands of an account", () => {
  it("are separate from other accounts and other kinds", async () => {
    const { id } = await accepted()
    const other = await makeCaller("reader")
    expect((await other.call(`/commands/${String(id)}`)).status).toBe(404)
    expect((await caller.call(`/commands/${fileId}`)).status).toBe(404)
    expect((await caller.call("/commands/no-uuid")).status).toBe(404)
    expect(await (await other.call("/commands")).json()).toEqual([])
  })

  it("are listed newest first", async () => {
    const ids = [(await accepted())["id"], (await accepted())["id"]]
    const listed = await (await caller.call("/commands?limit=2")).json<{ id: string }[]>()
    expect(listed.map(({ id }) => id)).toEqual(ids.toReversed())
  })
})
