import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createServer as createTlsServer } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setDefaultCACertificates } from "node:tls"
import { promisify } from "node:util"
import pWaitFor from "p-wait-for"
import { afterAll, describe, expect, it } from "vitest"
import { ends, open } from "./client-lab.ts"
import { listen, serve, serveBytes } from "./lab.ts"

const run = promisify(execFile)
const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())

describe("TLS", async () => {
  const folder = await mkdtemp(join(tmpdir(), "egress-tls-"))
  afterAll(async () => await rm(folder, { recursive: true }))
  const keyPath = join(folder, "key.pem")
  const certPath = join(folder, "cert.pem")
  const name = ["-subj", "/CN=a.example", "-addext", "subjectAltName=DNS:a.example"]
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
  await run("openssl", ["req", "-x509", ...ec, ...name, "-keyout", keyPath, "-out", certPath])
  const [key, cert] = [await readFile(keyPath, "utf8"), await readFile(certPath, "utf8")]
  const site = opened.use(
    await listen(createTlsServer({ key, cert }, (_, answer) => answer.end("secret"))),
  )

  it("is refused to a certificate that nobody signed", async () => {
    expect(await ends(`https://a.example:${site.port}/`)).toEqual([
      "connection_failed",
      'The certificate of "a.example" is signed by itself.',
    ])
  })

  it("is told from what is no TLS", async () => {
    await using plain = await serve((_, answer) => answer.end())
    expect(await ends(`https://a.example:${plain.port}/`)).toEqual([
      "connection_failed",
      expect.stringMatching(/^No TLS connection to "a.example" could be made/),
    ])
    await using ending = await serveBytes((socket) => socket.end())
    expect(await ends(`https://a.example:${ending.port}/`)).toEqual([
      "connection_failed",
      '"a.example" closed the connection.',
    ])
    await using silent = await serveBytes(() => undefined)
    expect(await ends(`https://a.example:${silent.port}/`, { headMsMax: 100 })).toEqual([
      "too_slow",
      '"a.example" did not answer in time.',
    ])
    await pWaitFor(() => silent.open.size === 0)
  })

  it("is made with the name of the URL, which the certificate must have", async () => {
    setDefaultCACertificates([cert])
    const { response } = await open(`https://a.example:${site.port}/`)
    expect(await text(response)).toBe("secret")
    expect(
      await open(`https://a.example.:${site.port}/`).catch((error: unknown) => error),
    ).toMatchObject({ code: "url_not_allowed" })
    expect(await ends(`https://b.example:${site.port}/`)).toEqual([
      "connection_failed",
      'The certificate of "b.example" is for another host.',
    ])
    await pWaitFor(() => site.open.size === 0)
  })
})
