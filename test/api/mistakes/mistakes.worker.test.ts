import { beforeAll, describe, expect, test } from "vitest"
import { fetchWorker, makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { readProblem } from "../../support/problem.ts"
import { ADDRESS_MISTAKES } from "./addresses.ts"
import { BODY_MISTAKES } from "./bodies.ts"
import { COMMAND_MISTAKES } from "./commands.ts"
import { command, json } from "./mistake.ts"
import { PLACE_MISTAKES } from "./places.ts"
import { REQUEST_MISTAKES } from "./requests.ts"
import { UPLOAD_MISTAKES } from "./uploads.ts"

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("mistakes")
})

describe("a mistake gets a sentence with its correction", () => {
  const mistakes = [
    ...REQUEST_MISTAKES,
    ...BODY_MISTAKES,
    ...UPLOAD_MISTAKES,
    ...ADDRESS_MISTAKES,
    ...PLACE_MISTAKES,
    ...COMMAND_MISTAKES,
  ]
  test.for(mistakes.map((each) => [each.mistake, each] as const))("%s", async ([, given]) => {
    const { path, init, origin = "", status, field, code, words } = given
    const answer = await fetchWorker(`${origin}/v1${path}`, init(caller.key))
    expect(answer.status).toBe(status)
    const { message, details, code_name } = await readProblem(answer)
    const [first] = details
    expect([first?.field, first?.code ?? code_name]).toEqual([field, code])
    for (const word of words) expect(message).toContain(word)
  })
})

test("settings are named only to the operator", async () => {
  const init = command({ webhook: "http://localhost:3000/hook" })
  const { message } = await readProblem(await fetchWorker("/v1/commands", init(caller.key)))
  expect(message).toContain("expected a public host")
  expect(message).not.toContain("ALLOWED_PRIVATE_HOSTS")
})

test("a command without inputs needs no input_files", async () => {
  const answer = await fetchWorker("/v1/commands/validate", command({})(caller.key))
  expect(await answer.json()).toMatchObject({ valid: true })
})

describe("a field under another name", () => {
  async function fieldsOf(path: string, body: object): Promise<string[]> {
    const { details } = await readProblem(await fetchWorker(path, json(body)(caller.key)))
    return details.map(({ field }) => field)
  }

  test("is the only fault if the rest is right", async () => {
    const renamed = {
      command: "ffmpeg -f lavfi -i testsrc2=duration=1 {{out_1}}",
      outputs: { out_1: "out.mp4" },
    }
    expect(await fieldsOf("/v1/commands", renamed)).toEqual(["command", "outputs"])
    expect(await fieldsOf("/v1/fetch", { link: "https://example.com/" })).toEqual(["link"])
    expect(await fieldsOf("/v1/keys", { label: "deploy" })).toEqual(["label"])
  })

  test("is reported before the fault of its value", async () => {
    const body = { url: "a.mp4", loudness: 3 }
    expect(await fieldsOf("/v1/normalize", body)).toEqual([
      "url",
      "loudness",
      "loudnorm_i",
      "file_url",
    ])
  })

  test("is another fault if the field itself is present", async () => {
    const body = { file_url: "https://example.com/a.mp4", url: "https://example.com/b.mp4" }
    expect(await fieldsOf("/v1/files", body)).toEqual(["url"])
  })
})

test("a body may begin with a byte order mark", async () => {
  const init = json('\uFEFF{"url": "a"}')
  const { message } = await readProblem(await fetchWorker("/v1/fetch", init(caller.key)))
  expect(message).toContain("url: ")
})

test.each([
  ["POST", "/files", "/v1/files"],
  ["GET", "/files", "/v1/files"],
  ["GET", "/jobs/0198f0b2-7c11-7cc3-9f3e-0a6b3d2f1a11", "/v1/jobs/"],
  ["POST", "/api/v1/commands", "/v1/commands"],
])(
  "%s %s with a key gets the answer of the API path that was meant",
  async (method, path, near) => {
    const answer = await fetchWorker(path, { method, headers: { "x-api-key": caller.key } })
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/json"])
    expect((await readProblem(answer)).message).toContain(`did you mean \`${near}`)
  },
)
