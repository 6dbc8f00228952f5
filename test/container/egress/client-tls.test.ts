import { mkdtemp, rm } from "node:fs/promises"
import { createServer as createTlsServer } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setDefaultCACertificates } from "node:tls"
import pWaitFor from "p-wait-for"
import { afterAll, describe, expect, it } from "vitest"
import { makeTestCertificate } from "../../support/site/certificate.ts"
import { ends, open } from "./client-lab.ts"
import { listen, serve, serveBytes } from "./lab.ts"

const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())

describe("TLS", async () => {
  const folder = await mkdtemp(join(tmpdir(), "egress-tls-"))
  afterAll(async () => await rm(folder, { recursive: true }))
  const { key, cert } = await makeTestCertificate(folder, "a.example")
  const site = opened.use(
    await listen(
      createTlsServer({ key, cert }, (incoming, answer) => {
        answer.end(incoming.headers.authorization ?? "secret")
      }),
    ),
  )

  it("fails for a self-signed certificate", async () => {
    expect(await ends(`https://a.example:${site.port}/`)).toEqual([
      "connection_failed",
      'The certificate of "a.example" is signed by itself.',
    ])
  })

  it("fails with a TLS error if the server does not speak TLS", async () => {
    await using plain = await serve((_, answer) => answer.end())
    expect(await ends(`https://a.example:${plain.port}/`)).toEqual([
      "connection_failed",
      expect.stringMatching(/^The TLS handshake with "a.example" failed/),
    ])
    await using ending = await serveBytes((socket) => socket.end())
    expect(await ends(`https://a.example:${ending.port}/`)).toEqual([
      "connection_failed",
      '"a.example" closed the connection.',
    ])
    await using silent = await serveBytes(() => undefined)
    expect(await ends(`https://a.example:${silent.port}/`, { headMsMax: 100 })).toEqual([
      "too_slow",
      '"a.example" did not respond in time.',
    ])
    await pWaitFor(() => silent.open.size === 0)
  })

  it("uses the URL's host name, which the certificate must match", async () => {
    setDefaultCACertificates([cert])
    const { response } = await open(`https://a.example:${site.port}/`)
    expect(await text(response)).toBe("secret")
    const privateHeaders: [string, string][] = [["Authorization", "Bearer x"]]
    const opened = await open(`https://a.example:${site.port}/`, { privateHeaders })
    expect(await text(opened.response)).toBe("Bearer x")
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
