import { execFile, spawnSync } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { parseJson } from "../../../scripts/cli/parse-json.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { explainMissingSpeechModel, makeSkipSuffix } from "../../support/media/speech.ts"
import { startReceiver } from "../receiver.ts"
import type { Receiver } from "../receiver.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { readSnippets } from "./snippets.ts"

const COMMAND = {
  output_files: { out_1: "test.mp4" },
  ffmpeg_command: "ffmpeg -f lavfi -i testsrc2 -t 1 {{out_1}}",
}
/** Program of Prometheus that checks configurations. */
const CONFIGURATION_CHECKER = "promtool"
const LACK = await explainMissingSpeechModel()
const anyObject = z.looseObject({})
const made = z.object({ command_id: z.string() })
const transcript = z.object({ json: z.string() })

const opened = new AsyncDisposableStack()
let receiver: Receiver
let service: TestService
let headers: Record<string, string>
const logLines: string[] = []

beforeAll(async () => {
  receiver = opened.use(await startReceiver())
  const settings = { ALLOWED_PRIVATE_HOSTS: new URL(receiver.origin).host }
  service = opened.use(await startService(settings))
  service.onLine((line) => logLines.push(line))
  headers = { "x-api-key": await service.makeKey("reader", "paid") }
})

afterAll(async () => await opened.disposeAsync())

/** Returns the JSON example of a page. */
function readExample(path: string): Record<string, unknown> {
  const [snippet] = readSnippets(path, ["json"])
  if (!snippet) throw new Error(`${path} has no example in JSON`)
  return anyObject.parse(parseJson(snippet.code))
}

/** Sends a request with a JSON body, or a GET without one. Returns the answer. */
async function send(path: string, body?: object): Promise<Response> {
  const init = body && { method: "POST", body: JSON.stringify(body) }
  const own = { ...headers, "content-type": "application/json" }
  return await fetch(`${service.origin}/v1${path}`, { ...init, headers: own })
}

describe("the JSON of a page has the fields of", () => {
  it("an error", async () => {
    const example = readExample("docs/guide/errors.md")
    const answer: unknown = await (await send(`/jobs/${crypto.randomUUID()}`)).json()
    expect(answer).toEqual({ ...example, request_id: expect.any(String) })
  })

  it("the answer to a command", async () => {
    const answer = await send("/commands", COMMAND)
    expect(answer.status).toBe(202)
    expect(shapeOf(await answer.json())).toEqual(shapeOf(readExample("docs/guide/jobs.md")))
  })

  it("a webhook and a line of the log", async () => {
    const body = { ...COMMAND, webhook: `${receiver.origin}/hook` }
    const { command_id: id } = made.parse(await (await send("/commands", body)).json())
    const [received] = await receiver.untilReceived(1)
    const webhook = shapeOf(parseJson(received?.body ?? ""))
    expect(webhook).toMatchObject(shapeOfMembers(readExample("docs/guide/webhooks.md")))
    function isEnd(line: string): boolean {
      return line.includes('"job.ended"') && line.includes(id)
    }
    await expect.poll(() => logLines.some(isEnd)).toBe(true)
    const line = shapeOf(parseJson(logLines.find(isEnd) ?? ""))
    expect(line).toMatchObject(shapeOfMembers(readExample("docs/operate/observe.md")))
  })

  it(`a transcription${makeSkipSuffix(LACK)}`, async ({ skip }) => {
    skip(LACK !== null)
    const form = new FormData()
    const speech = await readFile("scripts/demo/speech/clip.mp3")
    form.set("file", new Blob([new Uint8Array(speech)]), "talk.mp3")
    const init = { method: "POST", body: form, headers: { ...headers, prefer: "wait=60" } }
    const answer = await fetch(`${service.origin}/v1/transcribe`, init)
    const { json } = transcript.parse(await answer.json())
    const file: unknown = await (await fetch(json, { headers })).json()
    expect(shapeOf(file)).toEqual(shapeOf(readExample("docs/guide/transcribe.md")))
  })

  it("an answer's headers of limits", async () => {
    const [, block = ""] =
      /^```\n(RateLimit: [\s\S]*?)^```/m.exec(await readFile("docs/guide/limits.md", "utf8")) ?? []
    const answer = await send("/files")
    const lines = block.trim().split("\n")
    expect(lines).toHaveLength(2)
    for (const line of lines) {
      const [name = "", value = ""] = line.split(/: +| {2,}/)
      const numbers = /\d+/g
      expect(answer.headers.get(name)?.replaceAll(numbers, "1")).toBe(
        value.replaceAll(numbers, "1"),
      )
    }
  })
})

describe("a block of a page in another language", () => {
  it.each(["rendi", "transloadit", "mux", "coconut"])(
    "is JSON in the page for callers of %s",
    (name) => {
      expect(readExample(`docs/coming-from/${name}.md`)).toEqual(expect.any(Object))
    },
  )

  it("is a configuration that Prometheus takes", async ({ skip }) => {
    const [snippet] = readSnippets("docs/operate/observe.md", ["yaml"])
    await using folder = await makeTempFolder("prometheus")
    const path = join(folder.path, "prometheus.yml")
    await writeFile(path, snippet?.code ?? "")
    const isInstalled = spawnSync(CONFIGURATION_CHECKER, ["--version"]).error === undefined
    skip(!isInstalled, `${CONFIGURATION_CHECKER} is not installed`)
    const words = ["check", "config", "--syntax-only", path]
    const { stdout } = await promisify(execFile)(CONFIGURATION_CHECKER, words)
    expect(stdout).toContain("SUCCESS")
  })
})

/**
 * Returns a value with the names of types in place of its texts and numbers, and one element of
 * each list.
 */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== "object" || value === null) return typeof value
  return shapeOfMembers(value)
}

function shapeOfMembers(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]))
}
