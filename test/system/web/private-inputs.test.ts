import { readFile } from "node:fs/promises"
import { readdirSync, readFileSync, statSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { makeMediaFile, SMALL_MEDIA_ARGUMENTS } from "../../../scripts/cli/client/media.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import type { LoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { INPUT_FORMS } from "../../support/inputs-with-headers.ts"
import type { InputForm } from "../../support/inputs-with-headers.ts"
import { explainMissingSpeechTools } from "../../support/media/speech.ts"
import { openKeyedCall } from "../operate/keyed-call.ts"
import type { KeyedCall } from "../operate/keyed-call.ts"
import { collectLines } from "../operate/log-lines.ts"
import type { Printed } from "../operate/log-lines.ts"
import { startReceiver } from "../receiver.ts"
import type { Receiver } from "../receiver.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

/** Value of the header that opens the files; the scans of the state search for its parts. */
const SECRET = "opensesame-of-the-caller-71c9"
const TOKEN = `Bearer ${SECRET}`
const WRONG = "Bearer notsesame-of-the-caller-71c9"

const speechLack = await explainMissingSpeechTools()
const forms = INPUT_FORMS.filter(({ path }) => speechLack === null || path !== "/transcribe")

const record = z.looseObject({
  id: z.uuid(),
  status: z.string(),
  error: z.unknown().optional(),
  error_code: z.string().optional(),
})
const created = z.record(z.string(), z.unknown())

const opened = new AsyncDisposableStack()
const asked: { path: string; headers: IncomingMessage["headers"]; isStore: boolean }[] = []
let clip: Buffer
/** A server whose files need the token, and a store to which it redirects. */
let server: LoopbackServer
let store: LoopbackServer
let receiver: Receiver
let service: TestService
let printed: Printed
let call: KeyedCall

beforeAll(async () => {
  const folder = opened.use(await makeTempFolder("private-inputs"))
  clip = await readFile(await makeMediaFile(folder.path, "clip.mp4", SMALL_MEDIA_ARGUMENTS))
  store = opened.use(
    await startLoopbackServer(({ url = "", headers }, response) => {
      asked.push({ path: url, headers, isStore: true })
      response.writeHead(200, { "content-type": "video/mp4" }).end(clip)
    }),
  )
  server = opened.use(
    await startLoopbackServer(({ url = "", headers }, response) => {
      asked.push({ path: url, headers, isStore: false })
      if (headers.authorization !== TOKEN) response.writeHead(401).end()
      else if (url === "/moved") response.writeHead(302, { location: "/film.mp4?moved" }).end()
      else if (url === "/away")
        response.writeHead(302, { location: `${store.origin}/signed.mp4` }).end()
      else if (url === "/page") response.end("<!doctype html><title>Who are you?</title>")
      else response.writeHead(200, { "content-type": "video/mp4" }).end(clip)
    }),
  )
  receiver = opened.use(await startReceiver())
  const hosts = [server, store, receiver].map(({ origin }) => new URL(origin).host)
  service = opened.use(
    await startService({ ALLOWED_PRIVATE_HOSTS: hosts.join(","), LOG_LEVEL: "debug" }),
  )
  printed = collectLines(service)
  call = openKeyedCall(service, await service.makeKey("private inputs", "paid"))
})

afterAll(async () => await opened.disposeAsync())

async function post(path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json", prefer: "wait=50" }
  return await call(path, { method: "POST", headers, body: JSON.stringify(body) })
}

function privateInput(path: string, authorization = TOKEN) {
  return { url: server.origin + path, headers: { Authorization: authorization } }
}

/** Imports a path as a File and waits for its end. */
async function importFile(path: string, authorization = TOKEN) {
  asked.length = 0
  const answer = await post("/files", { file_url: privateInput(path, authorization) })
  expect(answer.status).toBe(201)
  return record.parse(await answer.json())
}

/** Creates a job of a form and waits for its end; of a transcription, for the end of its import. */
async function runForm({ path, idField, body }: InputForm, url: string): Promise<string> {
  const webhook = path === "/transcribe" ? {} : { webhook: `${receiver.origin}${url}` }
  const answer = await post(path, { ...body(privateInput(url)), ...webhook })
  const text = await answer.text()
  expect(text).not.toContain(SECRET)
  expect([answer.status, text]).toEqual([path === "/files" ? 201 : 202, expect.anything()])
  return z.string().parse(created.parse(JSON.parse(text))[idField])
}

/** Files of the state that have a text in clear: rows, their logs, objects, queues. */
function filesWith(text: string): string[] {
  const names = readdirSync(service.stateDir, { recursive: true, encoding: "utf8" })
  return names.filter((name) => {
    const path = join(service.stateDir, name)
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
    return isFile && readFileSync(path).includes(text)
  })
}

describe("inputs with headers", () => {
  it("bring in files that need a token, in every form, and the token is in clear nowhere", async () => {
    const jobs = forms.map(async (form, index) => {
      const url = `/film-${index}.mp4`
      return { form, url, id: await runForm(form, url) }
    })
    for (const { form, url, id } of await Promise.all(jobs)) {
      const shown = await (await call(`/jobs/${id}`)).text()
      expect(shown).not.toContain(SECRET)
      expect([form.form, record.parse(JSON.parse(shown))]).toMatchObject([
        form.form,
        { status: "completed" },
      ])
      const got = asked.filter(({ path }) => path === url)
      expect(got.map(({ headers }) => headers.authorization)).toEqual([TOKEN])
    }
    const hooks = forms.filter(({ path }) => path !== "/transcribe")
    const events = await receiver.untilReceived(hooks.length)
    expect(JSON.stringify(events)).not.toContain(SECRET)
    const lists = ["/jobs", "/files", "/commands", "/fetch", "/normalize", "/webhooks/deliveries"]
    for (const path of lists) expect(await (await call(path)).text()).not.toContain(SECRET)
    expect(filesWith("/film-0.mp4")).not.toEqual([])
    expect(filesWith(SECRET)).toEqual([])
    expect(printed.lines.join("\n")).toContain("task.ended")
    expect(printed.lines.join("\n")).not.toContain(SECRET)
  })

  it("fail with a wrong token, and a retry with the right one succeeds", async () => {
    const made = await importFile("/film.mp4", WRONG)
    expect(made).toMatchObject({
      status: "failed",
      error_code: "login_required",
      error: expect.stringContaining("refuses access with the headers") as unknown,
    })
    expect(asked).toHaveLength(1)
    expect((await post(`/jobs/${made.id}/retry`, {})).status).toBe(422)
    const headers = { file_url: { Authorization: TOKEN } }
    const retried = record.parse(await (await post(`/jobs/${made.id}/retry`, { headers })).json())
    expect(retried.status).toBe("completed")
    expect(filesWith(WRONG)).toEqual([])
    expect(filesWith(SECRET)).toEqual([])
    expect(printed.lines.join("\n")).not.toContain("sesame-of-the-caller")
  })

  it("keep their headers on a redirect within the origin", async () => {
    expect(await importFile("/moved")).toMatchObject({ status: "success" })
    expect(asked.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/moved", TOKEN],
      ["/film.mp4?moved", TOKEN],
    ])
  })

  it("lose their headers on a redirect to another origin", async () => {
    expect(await importFile("/away")).toMatchObject({ status: "success", name: "signed.mp4" })
    expect(asked.map(({ isStore, headers }) => [isStore, headers.authorization])).toEqual([
      [false, TOKEN],
      [true, undefined],
    ])
  })

  it("fail as not_a_file at a page, which no yt-dlp gets", async () => {
    expect(await importFile("/page")).toMatchObject({ status: "failed", error_code: "not_a_file" })
    expect(asked).toHaveLength(1)
    const answer = await post("/fetch", { url: privateInput("/page") })
    expect(record.parse(await answer.json())).toMatchObject({
      status: "failed",
      error: { code: "not_a_file" },
    })
    expect(asked).toHaveLength(2)
  })
})
