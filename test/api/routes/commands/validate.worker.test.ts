import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { fetchWorker, makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeCommandBody } from "../../../support/media/command-request.ts"
import { readProblem } from "../../../support/problem.ts"

type Wrong = { field: string; message: string; code?: string; option?: string }
type Checks = { judged: string[]; left_to_run: string[] }
type Verdict = { valid: boolean; commands: string[][]; checks: Checks; errors: Wrong[] }

let caller: TestCaller
let fileId: string

beforeAll(async () => {
  caller = await makeCaller("validate")
  fileId = (await uploadTestFile(caller, "clip.mp4", "x")).id
})

function request(changes: Record<string, unknown> = {}) {
  return makeCommandBody(fileId, changes)
}

async function validate(changes: Record<string, unknown> = {}): Promise<Verdict> {
  const answer = await caller.post("/commands/validate", request(changes))
  expect(answer.status).toBe(200)
  return await answer.json<Verdict>()
}

async function countRows() {
  const tables = ["jobs", "tasks", "files", "idempotency"]
  const counts = tables.map((table) =>
    env.DB.prepare(`select count(*) as n from ${table}`).first<number>("n"),
  )
  return await Promise.all(counts)
}

const WRONG: [string, Record<string, unknown>, string, string][] = [
  ["neither field", { ffmpeg_command: undefined }, "ffmpeg_command", "invalid_field"],
  ["a number", { ffmpeg_command: 1 }, "ffmpeg_command", "invalid_field"],
  ["a field that is none", { input_file: "a" }, "input_file", "invalid_field"],
  ["a bad priority", { priority: 101 }, "priority", "invalid_field"],
  ["a webhook that is no URL", { webhook: "mailto:a@b.example" }, "webhook", "invalid_field"],
  ["a bad reference", { input_files: { in_1: "x" } }, "input_files.in_1", "invalid_reference"],
  [
    "a missing file",
    { input_files: { in_1: `svc_id://${crypto.randomUUID()}` } },
    "input_files.in_1",
    "no_such_file",
  ],
  ["a bad name", { output_files: { out_1: "a/b" } }, "output_files.out_1", "invalid_name"],
  ["a name twice", { output_files: { out_1: "in_1.mp4" } }, "output_files.out_1", "name_taken"],
  [
    "an output never named",
    { ffmpeg_command: "ffmpeg -i in_1 x.mp4" },
    "output_files.out_1",
    "unused_output",
  ],
  [
    "an unknown key",
    { ffmpeg_command: "ffmpeg -i {{in_2}} out_1" },
    "ffmpeg_command",
    "unknown_key",
  ],
  ["another program", { ffmpeg_command: "rm {{in_1}}" }, "ffmpeg_command", "not_ffmpeg"],
  ["no words", { ffmpeg_command: "ffmpeg" }, "ffmpeg_command", "empty_command"],
  [
    "quotes that do not close",
    { ffmpeg_command: "ffmpeg 'a" },
    "ffmpeg_command",
    "unreadable_command",
  ],
  [
    "too many words",
    { ffmpeg_command: `ffmpeg ${"a ".repeat(4000)} out_1` },
    "ffmpeg_command",
    "too_many_words",
  ],
  [
    "an option that is not allowed",
    { ffmpeg_command: "ffmpeg -report -i in_1 out_1" },
    "ffmpeg_command",
    "option_not_allowed",
  ],
  [
    "a filter that is not allowed, in a sequence",
    { ffmpeg_command: undefined, ffmpeg_commands: ["-i in_1 out_1", "-i in_1 -af ladspa=x a.wav"] },
    "ffmpeg_commands.1",
    "filter_not_allowed",
  ],
]

describe("POST /commands/validate", () => {
  it("shows the words that would run, with file names in place of keys", async () => {
    expect(
      await validate({
        ffmpeg_command: undefined,
        ffmpeg_commands: ["ffmpeg -i {{in_1}} -vf 'scale=2:2,hflip' a.mkv", "-i a.mkv out_1"],
      }),
    ).toMatchObject({
      valid: true,
      commands: [
        ["ffmpeg", "-i", "in_1.mp4", "-vf", "scale=2:2,hflip", "a.mkv"],
        ["ffmpeg", "-i", "a.mkv", "out.mp4"],
      ],
      errors: [],
    })
  })

  it("lists the checks, and the faults that only a run can show", async () => {
    const { judged, left_to_run } = (await validate()).checks
    expect(judged.join()).toContain("names of options, filters")
    expect(left_to_run.join()).toContain("inputs without a probe: in_1")
    expect(left_to_run.join()).toContain("values of options and filters")
    expect(judged.filter((each) => left_to_run.includes(each))).toEqual([])
  })

  it.each<[string, Record<string, unknown>]>([
    ["one command", { ffmpeg_command: "ffmpeg -i {{in_1}} -af volumedetect -f null -" }],
    ["/dev/null", { ffmpeg_command: "ffmpeg -i in_1 -vf blackdetect -an -f null /dev/null" }],
    [
      "several",
      {
        ffmpeg_command: undefined,
        ffmpeg_commands: ["-i in_1 -c:v ffv1 a.mkv", "-i a.mkv -i in_1 -lavfi ssim -f null -"],
      },
    ],
    [
      "several outputs",
      { ffmpeg_command: "ffmpeg -i in_1 -vf cropdetect -f null - -af ebur128 -f null -" },
    ],
  ])("accepts %s without output_files if the command writes no file", async (_, changes) => {
    const verdicts = [
      await validate({ ...changes, output_files: undefined }),
      await validate({ ...changes, output_files: {} }),
    ]
    expect(verdicts).toMatchObject([
      { valid: true, errors: [] },
      { valid: true, errors: [] },
    ])
  })

  it.each<[string, Record<string, unknown>]>([
    ["a file", { ffmpeg_command: "ffmpeg -i {{in_1}} out.mp4" }],
    ["a key", { ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}" }],
    ["a file beside", { ffmpeg_command: "ffmpeg -i in_1 -f null - a.mp4" }],
    [
      "a file at last",
      { ffmpeg_command: undefined, ffmpeg_commands: ["-i in_1 -f null -", "-i in_1 a.mp4"] },
    ],
  ])("reports a missing output if the command writes %s", async (_, changes) => {
    const { errors } = await validate({ ...changes, output_files: undefined })
    expect(errors).toMatchObject([{ field: "output_files", code: "invalid_field" }])
    expect(errors[0]?.message).toContain("-f null -")
  })

  it("writes nothing, even with an Idempotency-Key", async () => {
    const before = await countRows()
    const headers = { "idempotency-key": "a-key", "content-type": "application/json" }
    const body = JSON.stringify(request())
    const init = { method: "POST", headers, body }
    expect((await caller.call("/commands/validate", init)).status).toBe(200)
    expect(await countRows()).toEqual(before)
    expect((await caller.call("/commands", init)).status).toBe(202)
  })

  it.each(WRONG)(
    "reports the faults of %s that POST /commands reports",
    async (_, changes, field, code) => {
      const verdict = await validate(changes)
      expect(verdict.valid).toBe(false)
      expect(verdict.errors).toContainEqual(expect.objectContaining({ field, code }))
      const refused = await caller.post("/commands", request(changes))
      expect(refused.status).toBe(422)
      const { details } = await refused.json<{ details: Wrong[] }>()
      expect(verdict.errors).toMatchObject(details)
      expect(verdict.errors.every((error) => typeof error.code === "string")).toBe(true)
    },
  )

  it("shows the readable parts beside the errors", async () => {
    const verdict = await validate({
      ffmpeg_command: undefined,
      ffmpeg_commands: ["-i in_1 -i in_9 {{out_1}}", "'", "ffprobe x"],
      input_files: { in_1: `svc_id://${fileId}`, in_2: 7, in_3: "nonsense" },
      nonsense: true,
    })
    expect(verdict.commands).toEqual([
      ["ffmpeg", "-i", "in_1.mp4", "-i", "in_9", "out.mp4"],
      [],
      [],
    ])
    expect(
      (await validate({ ffmpeg_command: 7, input_files: [], output_files: null })).commands,
    ).toEqual([])
  })

  it.each<[string, RequestInit]>([
    ["no JSON", { body: "{", headers: { "content-type": "application/json" } }],
    ["a list", { body: "[]", headers: { "content-type": "application/json" } }],
    ["a text", { body: "{}", headers: { "content-type": "text/plain" } }],
  ])("answers %s as POST /commands does", async (_, init) => {
    const answers = await Promise.all(
      ["/commands", "/commands/validate"].map((path) =>
        caller.call(path, { method: "POST", ...init }),
      ),
    )
    const [one, other] = await Promise.all(
      answers.map(async (answer) => [answer.status, await readProblem(answer)] as const),
    )
    expect(other).toEqual(one)
    expect(other?.[0]).toBeGreaterThanOrEqual(400)
  })

  it("needs a key, allows no other method and is not read as an id", async () => {
    const anonymous = await fetchWorker("/v1/commands/validate", { method: "POST", body: "{}" })
    expect(anonymous.status).toBe(401)
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await caller.call("/commands/validate", { method })
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"])
    }
    const posted = await caller.call(`/commands/${crypto.randomUUID()}`, { method: "POST" })
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "DELETE, GET, HEAD"])
  })
})

describe("several faults", () => {
  const all = {
    ffmpeg_command: "ffmpeg -report -i in_1 out_1",
    input_files: { in_1: "http://10.0.0.1/v1/fetch/x/a.mp4" },
    output_files: { out_1: "a/b.mp4" },
    webhook: "nope",
    priority: "x",
    bogus: 1,
  }
  const fields = [
    "priority",
    "bogus",
    "webhook",
    "input_files.in_1",
    "output_files.out_1",
    "ffmpeg_command",
  ]

  it("are all reported, by a create and a validation, each with its code", async () => {
    const { errors } = await validate(all)
    expect(errors.map(({ field }) => field)).toEqual(fields)
    const answer = await caller.post("/commands", all)
    expect(answer.status).toBe(422)
    const { details } = await answer.json<{ details: Wrong[] }>()
    expect(details).toEqual(errors)
    expect(details.every(({ code }) => code !== undefined)).toBe(true)
  })

  it("of an empty object are reported, without faults that follow from them", async () => {
    const { errors } = await validate({
      ffmpeg_command: undefined,
      input_files: undefined,
      output_files: undefined,
    })
    expect(errors.map(({ field }) => field)).toEqual(["ffmpeg_command"])
    const unnamed = await validate({ input_files: undefined, ffmpeg_command: "rm {{in_1}}" })
    expect(unnamed.errors.map(({ code }) => code)).toEqual(["not_ffmpeg"])
  })

  it("distinguish a fetched file from an input", async () => {
    const { errors } = await validate({
      input_files: {
        in_1: "https://lathe.test/v1/fetch/00000000-0000-7000-8000-000000000000/a.mp4",
      },
    })
    expect(errors).toMatchObject([{ field: "input_files.in_1", code: "fetch_not_an_input" }])
  })
})

describe("a refusal by the policy", () => {
  it("names field, option, code and remedy, for every fault of every command", async () => {
    const answer = await caller.post(
      "/commands",
      request({
        ffmpeg_command: undefined,
        ffmpeg_commands: [
          "-i https://a.example/x.mp4 -vf drawtext=textfile=/etc/passwd {{out_1}}",
          "-i in_1 -c:v h264_nvenc /tmp/x.mp4",
        ],
      }),
    )
    expect(answer.status).toBe(422)
    const { details } = await answer.json<{ details: Wrong[] }>()
    expect(details.map(({ field, option, code }) => [field, option, code])).toEqual([
      ["ffmpeg_commands.0", "-i", "url_not_allowed"],
      ["ffmpeg_commands.0", "-vf", "path_not_allowed"],
      ["ffmpeg_commands.1", "-c:v", "codec_not_allowed"],
      ["ffmpeg_commands.1", undefined, "path_not_allowed"],
    ])
    expect(details[1]?.message).toMatch(/drawtext, textfile: "\/etc\/passwd".*upload the file/)
  })
})
