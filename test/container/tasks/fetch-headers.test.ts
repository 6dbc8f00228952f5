import { readFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import type { LoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { fetched, startFetchHarness } from "./fetch-harness.ts"
import type { FetchHarness } from "./fetch-harness.ts"

const TOKEN = "Bearer a-token"
const clip = readFileSync("scripts/demo/command/clip.mp4")

let lab: FetchHarness
let server: LoopbackServer
const asked: string[] = []

beforeAll(async () => {
  server = await startLoopbackServer(({ url = "", headers }, response) => {
    asked.push(url)
    if (headers.authorization !== TOKEN) response.writeHead(401).end()
    else if (url === "/page") response.end("<!doctype html><video src=/clip.mp4>")
    else if (url === "/notes.mp4") response.end("these are no media, whatever the name says")
    else response.writeHead(200, { "content-length": clip.length }).end(clip)
  })
  lab = await startFetchHarness({}, [`127.0.0.1:${server.port}`])
})

afterAll(async () => {
  await lab[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function fetchPrivate(path: string, authorization = TOKEN) {
  asked.length = 0
  const secrets = { headers: [["Authorization", authorization] as [string, string]] }
  return await lab.fetch(server.origin + path, { has_headers: true }, { secrets })
}

describe("a fetch of a URL with headers", () => {
  it("downloads the file as it is, without yt-dlp, and probes it", async () => {
    const { title, media } = fetched(await fetchPrivate("/A%20clip.mp4"))
    expect(title).toBe("A clip")
    expect(media).toMatchObject({ name: "A clip.mp4", size_bytes: clip.length })
    expect(media.probe?.width).toBeGreaterThan(0)
    const stored = lab.harness.io.outputs.get("media")
    expect(clip.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
    expect(asked).toEqual(["/A%20clip.mp4"])
  })

  it("stores no more bytes than a file may have", async () => {
    const secrets = { headers: [["Authorization", TOKEN] as [string, string]] }
    const work = { has_headers: true as const, bytes_max: clip.length - 1 }
    const report = await lab.fetch(`${server.origin}/clip.mp4`, work, { secrets })
    expect(report).toMatchObject({ kind: "failed", failure: { code: "too_large" } })
  })

  it.each([
    ["/page", TOKEN, "not_a_file"],
    ["/clip.mp4", "Bearer wrong", "login_required"],
    ["/notes.mp4", TOKEN, "unsupported_site"],
  ])("of %s with %s fails as %s", async (path, authorization, code) => {
    const report = await fetchPrivate(path, authorization)
    expect(report).toMatchObject({ kind: "failed", blame: "caller", failure: { code } })
    expect(asked).toEqual([path])
  })
})
