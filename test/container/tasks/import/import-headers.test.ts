import type { IncomingMessage, ServerResponse } from "node:http"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import type { Harness } from "../../harness.ts"
import { failureOf, importUrl, PART_BYTES, startImportHarness } from "./import-harness.ts"
import { makeBytes, sendRest, startSource } from "./source-server.ts"
import type { Answer, SourceServer } from "./source-server.ts"

const TOKEN = "Bearer a-token-that-nobody-sees"
const small = makeBytes(100_000)
const large = makeBytes(PART_BYTES + 500_000)

let harness: Harness
const printed = vi.spyOn(console, "log")

beforeAll(async () => {
  harness = await startImportHarness()
})

afterAll(() => harness.close())

beforeEach(() => {
  harness.io.outputs.clear()
  printed.mockClear()
})

afterEach(() => {
  expect(JSON.stringify(printed.mock.calls)).not.toContain("nobody-sees")
  expect(JSON.stringify(harness.io.reports)).not.toContain("nobody-sees")
})

/** Imports a path of a server with headers, the token by default. */
async function importPrivate(source: SourceServer, path: string, authorization = TOKEN) {
  const headers: [string, string][] = [
    ["Authorization", authorization],
    ["X-Own", "mine"],
  ]
  const url = source.origin + path
  return await importUrl(harness, url, { has_headers: true }, { secrets: { headers } })
}

function isTokened({ headers }: IncomingMessage): boolean {
  return headers.authorization === TOKEN && headers["x-own"] === "mine"
}

/** Returns answers that require the token, and 401 without it. */
function guarded(answer: Answer): Answer {
  return (incoming, response, count) => {
    if (isTokened(incoming)) return answer(incoming, response, count)
    return void response.writeHead(401, { "www-authenticate": "Bearer" }).end()
  }
}

function redirectTo(location: string) {
  return (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(302, { location }).end()
}

describe("an import with headers", () => {
  it("sends them with the request, and no yt-dlp is started", async () => {
    await using source = await startSource(
      guarded((incoming, response) => sendRest(incoming, response, { bytes: small })),
    )
    const { result, stored } = await importPrivate(source, "/private.mp4")
    expect(result).toMatchObject({ name: "private.mp4", size_bytes: small.length })
    expect(small.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
    expect(source.requests.map(isTokened)).toEqual([true])
  })

  it("sends them again with the request for the rest of a cut file", async () => {
    const headers = { etag: '"one"' }
    await using source = await startSource(
      guarded((incoming, response, count) => {
        const cutAt = count === 1 ? PART_BYTES + 1000 : undefined
        sendRest(incoming, response, { bytes: large, headers, ...(cutAt && { cutAt }) })
      }),
    )
    const { result, stored } = await importPrivate(source, "/film.mp4")
    expect(result?.size_bytes).toBe(large.length)
    expect(large.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
    expect(source.requests.map(({ headers: sent }) => sent.range !== undefined)).toEqual([
      false,
      true,
    ])
    expect(source.requests.map(isTokened)).toEqual([true, true])
  })

  it("keeps them on a redirect within the origin", async () => {
    await using source = await startSource(
      guarded((incoming, response) => {
        if (incoming.url === "/moved") redirectTo("/there.mp4")(incoming, response)
        else sendRest(incoming, response, { bytes: small })
      }),
    )
    const { result } = await importPrivate(source, "/moved")
    expect(result).toMatchObject({ name: "there.mp4", size_bytes: small.length })
    expect(source.requests.map(isTokened)).toEqual([true, true])
  })

  it("strips them on a redirect to another origin, as to the signed link of a store", async () => {
    await using store = await startSource((incoming, response) =>
      sendRest(incoming, response, { bytes: small }),
    )
    await using source = await startSource(guarded(redirectTo(`${store.origin}/signed.mp4?s=1`)))
    const { result } = await importPrivate(source, "/moved")
    expect(result).toMatchObject({ name: "signed.mp4", size_bytes: small.length })
    const [sent] = store.requests
    expect(sent?.headers).not.toHaveProperty("authorization")
    expect(sent?.headers).not.toHaveProperty("x-own")
    expect(sent?.headers["user-agent"]).toContain("Lathe")
  })

  it("fails as login_required where the other origin wants a login, and says why", async () => {
    await using store = await startSource((_, response) => void response.writeHead(403).end())
    await using source = await startSource(guarded(redirectTo(`${store.origin}/x.mp4`)))
    const { code, message } = failureOf(await importPrivate(source, "/moved"))
    expect(code).toBe("login_required")
    expect(message).toMatch(/another origin, which receives none of its headers.* 403/)
  })

  it("fails as login_required with a wrong token", async () => {
    await using source = await startSource(
      guarded((incoming, response) => sendRest(incoming, response, { bytes: small })),
    )
    const imported = await importPrivate(source, "/private.mp4", "Bearer wrong-nobody-sees")
    const { code, message } = failureOf(imported)
    expect(code).toBe("login_required")
    expect(message).toMatch(/refuses access with the headers .* 401/)
    expect(source.requests).toHaveLength(1)
    expect(harness.io.outputs.size).toBe(0)
  })

  it.each([
    ["a page", "text/html", "<!doctype html><title>Log in</title>"],
    ["a page as media", "video/mp4", "<html><body>Log in</body></html>"],
    ["an HLS manifest", "application/vnd.apple.mpegurl", "#EXTM3U\n#EXTINF:4,\na.ts\n"],
    ["a DASH manifest", "application/dash+xml", '<?xml version="1.0"?><MPD></MPD>'],
  ])("hands %s to no yt-dlp and fails as not_a_file", async (_, type, body) => {
    await using source = await startSource(
      guarded((_incoming, response) => {
        response.writeHead(200, { "content-type": type }).end(body)
      }),
    )
    const { code, message } = failureOf(await importPrivate(source, "/film.mp4"))
    expect(code).toBe("not_a_file")
    expect(message).toContain("check the URL and the headers")
    expect(source.requests).toHaveLength(1)
  })
})
