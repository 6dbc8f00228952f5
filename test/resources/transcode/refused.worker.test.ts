import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { ask, makeCaller, upload } from "../../support/caller.ts"
import type { Caller } from "../../support/caller.ts"
import { readProblem } from "../../support/problem.ts"

const HOOK = "https://receiver.example/"
const OUTPUT = { codec: "h264", resolution: "480p" }

type Body = Record<string, unknown>

let caller: Caller
let source: string

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID())
  source = `svc_id://${(await upload(caller, "film.mkv", "bytes")).id}`
})

async function send(body: unknown, headers: Record<string, string> = {}, query = "") {
  return await caller.call(`/transcode${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  })
}

async function create(changes: Body = {}, headers: Record<string, string> = {}) {
  return await send({ source, outputs: [OUTPUT], ...changes }, headers)
}

async function countJobs(): Promise<number> {
  const listed = await caller.call("/jobs?kind=transcode")
  return z.array(z.unknown()).parse(await listed.json()).length
}

describe("a body of POST /transcode that cannot be used", () => {
  const many = Array.from({ length: 33 }, () => OUTPUT)
  const texts = Array.from({ length: 11 }, (_, index) => [`key ${index}`, "x"])

  it.each<[RegExp, Body]>([
    [/^source: /, { source: undefined }],
    [/^source: /, { source: 7 }],
    [/^source: /, { source: "" }],
    [/^source: there is no such file$/, { source: `svc_id://${crypto.randomUUID()}` }],
    [/^source: /, { source: "svc_id://nonsense" }],
    [/^source: .*public host/, { source: "http://127.0.0.1/a.mp4" }],
    [/^source: /, { source: "ftp://a.example/a.mp4" }],
    [/^source: /, { source: `https://a.example/${"x".repeat(8192)}` }],
    [/^outputs: expected an array of renditions, as `/, { outputs: undefined }],
    [/^outputs: expected an array of renditions, as `\[\{"codec"/, { outputs: OUTPUT }],
    [/^outputs: expected at least one rendition$/, { outputs: [] }],
    [/^outputs: expected at most 32 renditions$/, { outputs: many }],
    [/^outputs\.0: expected an object of fields; it is a text$/, { outputs: ["480p"] }],
    [
      /^outputs\.0\.codec: expected one of h264, h265, vp9, av1; did you mean `h264`\?$/,
      withOutput({ codec: "H264" }),
    ],
    [/^outputs\.0\.codec: it is missing: expected one of/, withOutput({ codec: undefined })],
    [
      /^outputs\.0\.resolution: expected one of 480p, 720p, 1080p, 4k; did you mean `480p`\?$/,
      withOutput({ resolution: 480 }),
    ],
    [
      /^outputs\.0\.resolution: it is missing: expected one of/,
      withOutput({ resolution: undefined }),
    ],
    [/^outputs\.0\.container: expected one of mp4, webm, mov$/, withOutput({ container: "mkv" })],
    [/^outputs\.0\.container: expected one of/, withOutput({ container: null })],
    ...[99, 200_001, 1500.5, "1500", 0, -1, null].map((rate): [RegExp, Body] => [
      /^outputs\.0\.bitrate_kbps: expected a whole number from 100 to 200000(?:; (?:write `1500`, without quotes|it is null))?$/,
      withOutput({ bitrate_kbps: rate }),
    ]),
    [
      /^outputs\.0\.bitrate: there is no such field; did you mean `bitrate_kbps`\?$/,
      withOutput({ bitrate: 7 }),
    ],
    [
      /^quality_metrics: expected true or false; write `false`, without quotes$/,
      { quality_metrics: "false" },
    ],
    [/^priority: expected a whole number from 0 to 100$/, { priority: 101 }],
    [/^metadata: expected an object of texts; it is a list$/, { metadata: [] }],
    [/^metadata: expected at most 10 pairs$/, { metadata: Object.fromEntries(texts) }],
    [/^metadata\.a: expected a text; write `"7"`$/, { metadata: { a: 7 } }],
    [/^webhook: expected a URL; it is 7$/, { webhook: 7 }],
    [/^webhook_url: .*public host/, { webhook_url: "http://localhost/" }],
    [/^webhook_url: expected it or webhook, and not both$/, { webhook: HOOK, webhook_url: HOOK }],
    [/^nonsense: there is no such field; there are `source`, /, { nonsense: 1 }],
    [/^source: .*; outputs: .*; priority: /, { source: 7, outputs: 7, priority: "x" }],
  ])("is refused with a 400 that says %s", async (message, changes) => {
    const answer = await create(changes)
    expect(answer.status).toBe(400)
    const problem = await readProblem(answer)
    expect(problem).toMatchObject({ code: "invalid_request", details: [] })
    expect(problem.message).toMatch(message)
    expect(await countJobs()).toBe(0)
  })

  it.each<[RegExp, unknown]>([
    [/^body: expected JSON; line 1, column 2: it ends too early: `}` is missing$/, "{"],
    [/^body: expected JSON, and the body is empty$/, ""],
    [/^body: expected an object of fields; it is a list$/, []],
    [/^body: expected an object of fields; it is null$/, "null"],
    [/^body: expected an object of fields; it is a text$/, '"text"'],
  ])("says %s of %o", async (message, body) => {
    const answer = await send(body)
    expect(answer.status).toBe(400)
    expect((await readProblem(answer)).message).toMatch(message)
  })

  it("is told so of its query and of its Idempotency-Key", async () => {
    const body = { source, outputs: [OUTPUT] }
    const queried = await send(body, {}, "?nonsense=1")
    expect([queried.status, (await readProblem(queried)).message]).toEqual([
      400,
      "nonsense: there is no such query parameter; the path takes none",
    ])
    const keyed = await send(body, { "idempotency-key": "not one" })
    expect([keyed.status, (await readProblem(keyed)).message]).toEqual([
      400,
      "Idempotency-Key: expected 1 to 255 visible ASCII characters, none of them a blank",
    ])
    expect(await countJobs()).toBe(0)
  })

  it("is a 413 where it is too large, and a 415 under another media type", async () => {
    const large = await create({ metadata: { a: "x".repeat(1024 * 1024) } })
    expect([large.status, (await readProblem(large)).code_name]).toEqual([413, "payload_too_large"])
    const other = await create({}, { "content-type": "text/plain" })
    expect([other.status, (await readProblem(other)).code_name]).toEqual([
      415,
      "unsupported_media_type",
    ])
  })

  it("is a 401 without a key, and its source is nobody else's", async () => {
    const body = JSON.stringify({ source, outputs: [OUTPUT] })
    const headers = { "content-type": "application/json" }
    const open = await ask("/v1/transcode", { method: "POST", headers, body })
    expect(open.status).toBe(401)
    const { code, error } = await readProblem(open)
    expect([code, error]).toMatchObject(["invalid_token", { code: "invalid_token" }])
    const stranger = await makeCaller(crypto.randomUUID())
    const theirs = await stranger.call("/transcode", { method: "POST", headers, body })
    expect([theirs.status, (await readProblem(theirs)).message]).toEqual([
      400,
      "source: there is no such file",
    ])
  })

  it("is no job of a request that was kept for its Idempotency-Key", async () => {
    const headers = { "idempotency-key": "twice" }
    expect((await create({ outputs: [] }, headers)).status).toBe(400)
    expect((await create({}, headers)).status).toBe(202)
    expect(await countJobs()).toBe(1)
  })
})

function withOutput(changes: Body): Body {
  return { outputs: [{ ...OUTPUT, ...changes }] }
}
