import { beforeAll, expect, it } from "vitest"
import { makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { makeCommandBody } from "../../../support/media/command-request.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  PROBE_TASK_END,
} from "../../../support/runner/stand-in-runner.ts"

type Warned = { status: string; warnings: { code: string; message: string }[] }

const UNUSED = {
  code: "unused_input",
  message: expect.stringMatching(/^input_files\.in_2: no command names this input\. /),
}

let caller: TestCaller
let input_files: Record<string, string>

beforeAll(async () => {
  caller = await makeCaller("unused inputs")
  const accountId = await findCallerAccountId(caller)
  const references: string[] = []
  for (const name of ["clip.mp4", "logo.png"]) {
    const { id } = await uploadTestFile(caller, name, name)
    await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), PROBE_TASK_END)
    references.push(`svc_id://${id}`)
  }
  input_files = Object.fromEntries(references.map((each, place) => [`in_${place + 1}`, each]))
})

async function read(path: string): Promise<Warned> {
  return await (await caller.call(path)).json<Warned>()
}

it("an input that no command names is a warning from the create on, and of a retry", async () => {
  const accountId = await findCallerAccountId(caller)
  const created = await caller.post("/commands", makeCommandBody("", { input_files }))
  expect(created.status).toBe(202)
  const { command_id: id } = await created.json<{ command_id: string }>()
  expect((await read(`/commands/${id}`)).warnings).toEqual([UNUSED])
  const other = { code: "empty_stream" as const, message: "Nothing came." }
  await claimAndEndTask(await findTaskByKind(accountId, id, "command"), {
    result: {
      kind: "command",
      outputs: [{ key: "out_1", size_bytes: 3, content_type: "video/mp4" }],
      warnings: [other],
    },
  })
  const ended = await read(`/commands/${id}`)
  expect([ended.status, ended.warnings]).toEqual(["success", [UNUSED, other]])
  const retried = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
  expect((await retried.json<Warned>()).warnings).toEqual([UNUSED])
})

it("a validation has the same warning, and is valid", async () => {
  const answer = await caller.post("/commands/validate", makeCommandBody("", { input_files }))
  expect(await answer.json()).toMatchObject({ valid: true, warnings: [UNUSED], errors: [] })
})

it("an ffmpeg job has it too, under the field of its input", async () => {
  const answer = await caller.post("/ffmpeg", {
    inputs: Object.values(input_files),
    command: "-i {{in_1}} {{out_1}}",
    output_filename: "out.mp4",
  })
  expect((await answer.json<Warned>()).warnings).toMatchObject([
    { message: expect.stringMatching(/^inputs\.1: no command names this input/) },
  ])
})
