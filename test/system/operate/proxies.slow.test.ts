import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import type { IncomingMessage } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { promisify } from "node:util"
import pWaitFor from "p-wait-for"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { parseJson } from "../../../scripts/cli/parse-json.ts"
import { findFreePort } from "../../../scripts/cli/ports.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { assembleApiKey } from "../../../src/platform/crypto/api-key.ts"
import { startService } from "../service.ts"

const HOST = "media.example.com"
const PAGE = readFileSync("docs/operate/one-machine.md", "utf8")
/** Size of an upload that the proxies would refuse by their defaults. */
const UPLOAD_BYTES = 40 * 1024 * 1024
/** Requests of strangers, more than one address may send in two minutes. */
const GUESSES = 220
const STOP_MS_MAX = 10_000

const upload = z.object({ id: z.string(), size_bytes: z.int() })
const made = z.object({
  status: z.string(),
  output_files: z.object({ out_1: z.object({ download_url: z.string() }) }),
})

/** Folder and ports of a proxy that is to be started. */
type Setting = { folder: string; port: number; servicePort: number }

/** Programs in front of the service, each with the configuration of the documentation. */
const PROXIES = {
  nginx: {
    words: ({ folder }: Setting) => ["-c", join(folder, "configuration"), "-e", "stderr"],
    configure: ({ folder, port }: Setting) =>
      `daemon off; worker_processes 1; pid ${folder}/pid; events {}\nhttp {\naccess_log off;\n` +
      ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((name) => `${name}_temp_path ${folder}/${name};\n`)
        .join("") +
      `${readBlock(/^server \{[\s\S]*?^\}/m)
        .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
        .replace(/\/\S+\/fullchain.pem/, `${folder}/certificate.pem`)
        .replace(/\/\S+\/privkey.pem/, `${folder}/key.pem`)}\n}`,
  },
  caddy: {
    words: ({ folder }: Setting) => {
      return ["run", "--adapter", "caddyfile", "--config", join(folder, "configuration")]
    },
    configure: ({ folder, port }: Setting) =>
      `{\nadmin off\nauto_https off\n}\n` +
      readBlock(/^media\.example\.com \{[\s\S]*?^\}/m).replace(
        `${HOST} {`,
        `https://${HOST}:${port} {\nbind 127.0.0.1\ntls ${folder}/certificate.pem ${folder}/key.pem`,
      ),
  },
}

describe.for(Object.entries(PROXIES))("behind %s", ([program, { words, configure }]) => {
  it("the service takes large uploads, streams events and counts strangers", async (context) => {
    const isThere = await promisify(execFile)("sh", ["-c", `command -v ${program}`]).then(
      () => true,
      () => false,
    )
    context.skip(!isThere, `${program} is not installed`)
    await using folder = await makeTempFolder("proxy")
    const port = await findFreePort()
    const origin = `https://${HOST}:${port}`
    await using service = await startService({
      PUBLIC_ORIGIN: origin,
      CLIENT_ADDRESS_HEADER: "X-Real-IP",
    })
    const key = await service.makeKey("behind", "paid")
    const setting = {
      folder: folder.path,
      port,
      servicePort: Number(new URL(service.origin).port),
    }
    const ca = await makeCertificate(folder.path)
    writeFileSync(
      join(folder.path, "configuration"),
      configure(setting).replaceAll("127.0.0.1:8787", `127.0.0.1:${setting.servicePort}`),
    )
    await using _ = startProxy(program, words(setting), folder.path)

    async function send(path: string, headers: Record<string, string>, body?: Uint8Array | string) {
      const options = { host: "127.0.0.1", port, servername: HOST, ca, path, agent: false }
      const method = body === undefined ? "GET" : "POST"
      const sent = request({ ...options, method, headers: { host: `${HOST}:${port}`, ...headers } })
      sent.end(body)
      const [answer]: IncomingMessage[] = await once(sent, "response")
      if (!answer) throw new Error("there is no answer")
      return answer
    }
    const own = { "x-api-key": key }
    await pWaitFor(async () => {
      const answer = await send("/v1/health", {}).catch(() => null)
      answer?.resume()
      return answer?.statusCode === 200
    })

    const form = new FormData()
    form.set("file", new Blob([new Uint8Array(UPLOAD_BYTES)]), "zeros.mp4")
    const encoded = new Response(form)
    const typed = { ...own, "content-type": encoded.headers.get("content-type") ?? "" }
    const stored = await send("/v1/files", typed, await encoded.bytes())
    expect(upload.parse(parseJson(await text(stored))).size_bytes).toBe(UPLOAD_BYTES)

    const json = { ...own, "content-type": "application/json" }
    const command = {
      output_files: { out_1: "test.mp4" },
      ffmpeg_command: "ffmpeg -re -f lavfi -i testsrc2 -t 4 {{out_1}}",
    }
    const accepted = await send("/v1/commands", json, JSON.stringify(command))
    const { command_id: id } = z
      .object({ command_id: z.string() })
      .parse(parseJson(await text(accepted)))
    const events = await send(`/v1/jobs/${id}/events`, own)
    const [first] = await once(events, "data")
    expect(String(first)).toContain("retry:")
    const early = await send(`/v1/commands/${id}`, own)
    expect(await text(early)).toMatch(/"status":"(?:pending|running)"/)
    expect(await text(events)).toContain('"status":"completed"')

    const waited = await send(`/v1/commands/${id}`, { ...own, prefer: "wait=60" })
    const done = made.parse(parseJson(await text(waited)))
    expect(done.output_files.out_1.download_url.startsWith(`${origin}/v1/`)).toBe(true)

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

/** Returns the first block of the page that the pattern finds. */
function readBlock(pattern: RegExp): string {
  const [block] = pattern.exec(PAGE) ?? []
  if (block === undefined) throw new Error(`the page has no block of ${String(pattern)}`)
  return block
}

/** Makes a certificate and its key in a folder. Returns the certificate. */
async function makeCertificate(folder: string): Promise<string> {
  const path = join(folder, "certificate.pem")
  await promisify(execFile)("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"],
    ...["-subj", `/CN=${HOST}`, "-addext", `subjectAltName=DNS:${HOST}`, "-days", "2"],
    ...["-keyout", join(folder, "key.pem"), "-out", path],
  ])
  return readFileSync(path, "utf8")
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
