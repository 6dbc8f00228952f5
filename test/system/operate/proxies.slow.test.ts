import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import type { IncomingMessage } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import pWaitFor from "p-wait-for"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { parseJson } from "../../../scripts/cli/parse-json.ts"
import { findFreePort } from "../../../scripts/cli/ports.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { assembleApiKey } from "../../../src/platform/crypto/api-key.ts"
import { makeTestCertificate } from "../../support/site/certificate.ts"
import { startService } from "../service.ts"

const HOST = "media.example.com"
const PAGE = readFileSync("docs/operate/one-machine.md", "utf8")
/** Size of an upload that the proxies would refuse by their defaults. */
const UPLOAD_BYTES = 40 * 1024 * 1024
/** Requests of strangers, more than one address may send in two minutes. */
const GUESSES = 220
const STOP_MS_MAX = 10_000

const COMMAND = {
  output_files: { out_1: "test.mp4" },
  ffmpeg_command: "ffmpeg -re -f lavfi -i testsrc2 -t 4 {{out_1}}",
}

const upload = z.object({ size_bytes: z.int() })
const command = z.object({ command_id: z.string() })
const record = z.object({
  output_files: z.object({ out_1: z.object({ download_url: z.string() }) }),
})

/** Folder and port of a proxy that is to be started. */
type Setting = { folder: string; port: number }

/** Programs in front of the service, each with the configuration of the documentation. */
const PROXIES = {
  nginx: {
    words: ({ folder }: Setting) => ["-c", join(folder, "configuration"), "-e", "stderr"],
    configure: ({ folder, port }: Setting): string => {
      const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      const server = readBlock(/^server \{[\s\S]*?^\}/m)
        .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
        .replace(/\/\S+\/fullchain.pem/, `${folder}/cert.pem`)
        .replace(/\/\S+\/privkey.pem/, `${folder}/key.pem`)
      const folders = kinds.map((name) => `${name}_temp_path ${folder}/${name};`)
      const main = ["daemon off;", "worker_processes 1;", `pid ${folder}/pid;`, "events {}"]
      return [...main, "http {", "access_log off;", ...folders, server, "}"].join("\n")
    },
  },
  caddy: {
    words: ({ folder }: Setting) => {
      return ["run", "--adapter", "caddyfile", "--config", join(folder, "configuration")]
    },
    configure: ({ folder, port }: Setting): string => {
      const begin = [`https://${HOST}:${port} {`, "bind 127.0.0.1"]
      const tls = `tls ${folder}/cert.pem ${folder}/key.pem`
      const block = readBlock(/^media\.example\.com \{[\s\S]*?^\}/m)
      const own = block.replace(`${HOST} {`, [...begin, tls].join("\n"))
      return ["{", "admin off", "auto_https off", "}", own].join("\n")
    },
  },
}

/** Sends a request through a proxy: a POST with a body, else a GET. Returns the response. */
type Send = (
  path: string,
  headers: Record<string, string>,
  body?: Uint8Array | string,
) => Promise<IncomingMessage>

/** Service behind a proxy: the origin of the proxy, the header of a key, and requests. */
type Proxied = AsyncDisposable & {
  origin: string
  own: { "x-api-key": string }
  send: Send
}

describe.for(Object.entries(PROXIES))("behind %s", ([program, { words, configure }]) => {
  const isInstalled = spawnSync(program, ["version"]).error === undefined
  let proxied: Proxied | null = null

  beforeAll(async () => {
    if (isInstalled) proxied = await startProxied(program, words, configure)
  })

  afterAll(async () => await proxied?.[Symbol.asyncDispose]())

  beforeEach(({ skip }) => skip(!isInstalled, `${program} is not installed`))

  function stage(): Proxied {
    if (proxied === null) throw new Error(`${program} was not started`)
    return proxied
  }

  it("a large upload is stored", async () => {
    const { send, own } = stage()
    const form = new FormData()
    form.set("file", new Blob([new Uint8Array(UPLOAD_BYTES)]), "zeros.mp4")
    const encoded = new Response(form)
    const typed = { ...own, "content-type": encoded.headers.get("content-type") ?? "" }
    const stored = await send("/v1/files", typed, await encoded.bytes())
    expect(upload.parse(parseJson(await text(stored))).size_bytes).toBe(UPLOAD_BYTES)
  })

  it("events arrive while the job runs, and links name the proxy", async () => {
    const { send, own, origin } = stage()
    const json = { ...own, "content-type": "application/json" }
    const accepted = await send("/v1/commands", json, JSON.stringify(COMMAND))
    const { command_id: id } = command.parse(parseJson(await text(accepted)))
    const events = await send(`/v1/jobs/${id}/events`, own)
    const [first] = await once(events, "data")
    expect(String(first)).toContain("retry:")
    const early = await send(`/v1/commands/${id}`, own)
    expect(await text(early)).toMatch(/"status":"(?:pending|running)"/)
    expect(await text(events)).toContain('"status":"completed"')
    const waited = await send(`/v1/commands/${id}`, { ...own, prefer: "wait=60" })
    const { output_files: outputs } = record.parse(parseJson(await text(waited)))
    expect(outputs.out_1.download_url.startsWith(`${origin}/v1/`)).toBe(true)
  })

  it("strangers are counted by their own address, whatever header they send", async () => {
    const { send } = stage()
    const statuses = new Set<number | undefined>()
    for (let guess = 0; guess < GUESSES; guess += 1) {
      const stranger = { "x-api-key": assembleApiKey(), "x-real-ip": `198.51.100.${guess}` }
      const answer = await send("/v1/files", stranger)
      answer.resume()
      statuses.add(answer.statusCode)
    }
    expect([...statuses]).toEqual([401, 429])
  })
})

/** Starts a service and a proxy in front of it. Returns when the proxy passes requests on. */
async function startProxied(
  program: string,
  words: (setting: Setting) => string[],
  configure: (setting: Setting) => string,
): Promise<Proxied> {
  await using started = new AsyncDisposableStack()
  const folder = started.use(await makeTempFolder("proxy")).path
  const port = await findFreePort()
  const origin = `https://${HOST}:${port}`
  const settings = { PUBLIC_ORIGIN: origin, CLIENT_ADDRESS_HEADER: "X-Real-IP" }
  const service = started.use(await startService(settings))
  const { cert: ca } = await makeTestCertificate(folder, HOST)
  const configuration = configure({ folder, port })
  const { host } = new URL(service.origin)
  writeFileSync(join(folder, "configuration"), configuration.replaceAll("127.0.0.1:8787", host))
  started.use(startProxy(program, words({ folder, port }), folder))

  async function send(...[path, headers, body]: Parameters<Send>): Promise<IncomingMessage> {
    const options = { host: "127.0.0.1", port, servername: HOST, ca, path, agent: false }
    const method = body === undefined ? "GET" : "POST"
    const sent = request({ ...options, method, headers: { host: `${HOST}:${port}`, ...headers } })
    sent.end(body)
    const [answer]: IncomingMessage[] = await once(sent, "response")
    if (!answer) throw new Error("there is no answer")
    return answer
  }

  await pWaitFor(async () => {
    const answer = await send("/v1/health", {}).catch(() => null)
    answer?.resume()
    return answer?.statusCode === 200
  })
  const own = { "x-api-key": await service.makeKey("behind", "paid") }
  const running = started.move()
  return {
    origin,
    own,
    send,
    [Symbol.asyncDispose]: async () => await running.disposeAsync(),
  }
}

/** Returns the first block of the page that the pattern finds. */
function readBlock(pattern: RegExp): string {
  const [block] = pattern.exec(PAGE) ?? []
  if (block === undefined) throw new Error(`the page has no block of ${String(pattern)}`)
  return block
}

/** Starts a proxy, which ends at its disposal. */
function startProxy(program: string, words: string[], home: string): AsyncDisposable {
  const child = spawn(program, words, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"], HOME: home },
  })
  const exited = once(child, "exit")
  let said = ""
  child.stderr.on("data", (bytes: Buffer) => (said += String(bytes)))
  void exited.then(([code]) => {
    if (code !== 0 && code !== null) console.error(`${program} ended: ${said}`)
  })
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM")
      const killing = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX)
      await exited
      clearTimeout(killing)
    },
  }
}
