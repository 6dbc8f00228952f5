import { beforeAll, describe, expect, it } from "vitest"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { readProblem } from "../../support/problem.ts"

const COMMAND = { output_files: { out_1: "a.mp4" }, ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}" }

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("complex bodies")
})

function numbers(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, place) => [`k${place}`, 1]))
}

function nest(depth: number): unknown {
  return JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`)
}

describe("a body of too many values", () => {
  it.each<[string, string, object, RegExp]>([
    [
      "of one field",
      "metadata",
      { metadata: numbers(8000) },
      /^the body has 800\d values; .* 2000/,
    ],
    ["of the body itself", "body", numbers(8000), /^the body has 800\d values/],
    [
      "of a list",
      "ffmpeg_commands",
      { ffmpeg_commands: Array.from({ length: 3000 }, () => "a") },
      /^the body/,
    ],
    ["of deep nesting", "metadata", { metadata: nest(50) }, /at most 32 levels/],
  ])("gets a 422 too_complex that names its field: %s", async (_, field, body, message) => {
    for (const path of ["/commands", "/commands/validate", "/ffmpeg", "/fetch", "/files"]) {
      const answer = await caller.post(path, { ...COMMAND, ...body })
      expect([path, answer.status]).toEqual([path, 422])
      const problem = await readProblem(answer)
      expect(problem.code_name).toBe("too_complex")
      expect(problem.details).toEqual([
        { field, code: "too_complex", message: expect.stringMatching(message) },
      ])
    }
  })

  it("gets a 422 in a form, too", async () => {
    const form = new FormData()
    form.append("file", new File(["x"], "a.mp4"))
    form.append("metadata", JSON.stringify(numbers(3000)))
    const answer = await caller.call("/normalize", { method: "POST", body: form })
    expect(answer.status).toBe(422)
    expect(await readProblem(answer)).toMatchObject({ details: [{ field: "metadata" }] })
  })
})

describe("commands with too many parts", () => {
  it.each([
    ["words and options", `-vf scale=${":".repeat(20_001)}`],
    ["quotes", `-metadata title=${"''".repeat(3000)}`],
    ["filters of a graph", `-vf null${",null".repeat(1000)}`],
  ])("get a 422 too_complex that names the command: %s", async (_, words) => {
    const line = `ffmpeg -i {{in_1}} ${words} {{out_1}}`
    const ffmpeg_commands = Array.from({ length: 5 }, () => line)
    const input_files = { in_1: "http://127.0.0.1/a.mp4" }
    const body = { ...COMMAND, input_files, ffmpeg_command: undefined, ffmpeg_commands }
    const answer = await caller.post("/commands", body)
    expect(answer.status).toBe(422)
    const { code_name, details } = await readProblem(answer)
    expect(code_name).toBe("too_complex")
    expect(details).toContainEqual(
      expect.objectContaining({ field: "ffmpeg_commands.0", code: "too_complex" }),
    )
  })
})

describe("a body of the largest size", () => {
  it("may contain brackets and commas within its strings", async () => {
    const text = `ffmpeg -i {{in_1}} -metadata 'title=${'{},[]:"'.repeat(1000)}' {{out_1}}`
    const answer = await caller.post("/commands/validate", { ...COMMAND, ffmpeg_command: text })
    expect(answer.status).toBe(200)
  })

  it("names the number of pairs before faults of single pairs", async () => {
    const answer = await caller.post("/commands", { ...COMMAND, metadata: numbers(1000) })
    const { details } = await readProblem(answer)
    expect(details.filter(({ field }) => field.startsWith("metadata"))).toEqual([
      { field: "metadata", code: "invalid_field", message: "expected at most 10 pairs" },
    ])
  })

  it("reports a hundred of its unknown fields", async () => {
    const answer = await caller.post("/commands", { ...COMMAND, ...numbers(1500) })
    expect((await readProblem(answer)).details).toHaveLength(100)
  })
})
