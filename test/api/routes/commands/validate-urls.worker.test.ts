import { beforeAll, describe, expect, it } from "vitest"
import { makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeCommandBodyWithInputs } from "../../../support/media/command-request.ts"
import { readProblem } from "../../../support/problem.ts"

const ONE = "https://media.example/one.mp4"
const OTHER = "https://media.example/other"

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("validated URLs")
})

describe("POST /commands/validate", () => {
  async function validate(body: object) {
    const answer = await caller.post("/commands/validate", body)
    return await answer.json<{ valid: boolean; commands: string[][]; errors: object[] }>()
  }

  it("accepts URLs, guesses their names, and imports nothing", async () => {
    expect(await validate(makeCommandBodyWithInputs({ in_1: ONE, in_2: OTHER }))).toMatchObject({
      valid: true,
      commands: [["ffmpeg", "-i", "in_1.mp4", "-i", "in_2", "out.mp4"]],
      errors: [],
    })
    expect(await (await caller.call("/files")).json()).toEqual([])
  })

  it.each<[string, Record<string, string>]>([
    ["a private address", { in_1: "http://169.254.169.254/latest" }],
    ["a name of no public host", { in_1: "http://intranet/a.mp4" }],
    ["a user", { in_1: "https://me@media.example/a.mp4" }],
  ])("reports the faults of %s that POST /commands reports", async (_, input_files) => {
    const faults = [{ field: "input_files.in_1", code: "url_not_allowed" }]
    expect((await validate(makeCommandBodyWithInputs(input_files))).errors).toMatchObject(faults)
    const refused = await caller.post("/commands", makeCommandBodyWithInputs(input_files))
    expect((await readProblem(refused)).details).toMatchObject(faults)
  })

  it.each<[string, Record<string, unknown>, string]>([
    ["an output", { output_files: { out_1: "in_1.webm" } }, "name_taken"],
    ["a series", { output_files: { out_1: "in_%d.webm" } }, "name_taken"],
    [
      "a file of the command",
      { ffmpeg_command: "ffmpeg -i {{in_1}} in_1.mkv -i in_1 {{out_1}}" },
      "overwrites_input",
    ],
  ])("refuses %s under a name that an import may get", async (_, changes, code) => {
    const { errors } = await validate(makeCommandBodyWithInputs({ in_1: ONE }, changes))
    expect(errors).toContainEqual(expect.objectContaining({ code }))
  })
})
