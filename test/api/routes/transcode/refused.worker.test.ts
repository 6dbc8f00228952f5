import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { fetchWorker, makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { readProblem } from "../../../support/problem.ts"

const HOOK = "https://receiver.example/"
const OUTPUT = { codec: "h264", resolution: "480p" }

type Body = Record<string, unknown>

let caller: TestCaller
let source: string

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID())
  source = `svc_id://${(await uploadTestFile(caller, "film.mkv", "bytes")).id}`
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

describe("a malformed body of POST /transcode", () => {
  const many = Array.from({ length: 33 }, () => OUTPUT)
  const texts = Array.from({ length: 11 }, (_, index) => [`key ${index}`, "x"])

  it.each<[RegExp, Body]>([
    [/^source: /, { source: undefined }],
    [/^source: /, { source: 7 }],
    [/^source: /, { source: "" }],
    [/^source: the account has no such file$/, { source: `svc_id://${crypto.randomUUID()}` }],
    [/^source: /, { source: "svc_id://nonsense" }],
    [/^source: .*public host/, { source: "http://127.0.0.1/a.mp4" }],
    [/^source: /, { source: "ftp://a.example/a.mp4" }],
    [/^source: /, { source: `https://a.example/${"x".repeat(8192)}` }],
    [/^outputs: expected an array of renditions, such as `/, { outputs: undefined }],
    [/^outputs: expected an array of renditions, such as `\[\{"codec"/, { outputs: OUTPUT }],
    [/^outputs: expected at least one rendition$/, { outputs: [] }],
    [/^outputs: expected at most 32 renditions$/, { outputs: many }],
    [/^outputs\.0: expected an object of fields; it is a string$/, { outputs: ["480p"] }],
    [
      /^outputs\.0\.codec: expected one of h264, h265, vp9, av1; did you mean `h264`\?$/,
      withOutput({ codec: "H264" }),
    ],
    [/^outputs\.0\.codec: it is missing: expected one of/, withOutput({ codec: undefined })],
    [
      /^outputs\.0\.resolution: expected one of 240p, 360p, 480p, 720p, 1080p, 1440p, 4k; did you mean `480p`\?$/,
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
      /^outputs\.0\.bitrate: unknown field; did you mean `bitrate_kbps`\?$/,
      withOutput({ bitrate: 7 }),
    ],
    [
      /^quality_metrics: expected true or false; write `false`, without quotes$/,
      { quality_metrics: "false" },
    ],
    [/^priority: expected a whole number from 0 to 100$/, { priority: 101 }],
    [/^metadata: expected an object of strings; it is a list$/, { metadata: [] }],
    [/^metadata: expected at most 10 pairs$/, { metadata: Object.fromEntries(texts) }],
    [/^metadata\.a: expected a string; write `"7"`$/, { metadata: { a: 7 } }],
    [/^webhook: expected a URL; it is 7$/, { webhook: 7 }],
    [/^webhook_url: .*public host/, { webhook_url: "http://localhost/" }],
    [
      /^webhook_url: expected webhook_url or webhook, not both$/,
      { webhook: HOOK, webhook_url: HOOK },
    ],
    [/^nonsense: unknown field; the known fields are `source`, /, { nonsense: 1 }],
    [/^source: .*; outputs: .*; priority: /, { source: 7, outputs: 7, priority: "x" }],
  ])("gets a 400 with %s", async (message, changes) => {
    const answer = await create(changes)
    expect(answer.status).toBe(400)
    const problem = await readProblem(answer)
    expect(problem.code).toBe("invalid_request")
    expect(problem.message).toMatch(message)
    expect(problem.details).not.toEqual([])
    expect(await countJobs()).toBe(0)
  })

  it.each<[RegExp, unknown]>([
    [/^body: expected JSON; line 1, column 2: the JSON ends too early: `}` is missing$/, "{"],
    [/^body: expected JSON, but the body is empty$/, ""],
    [/^body: expected an object of fields; it is a list$/, []],
    [/^body: expected an object of fields; it is null$/, "null"],
    [/^body: expected an object of fields; it is a string$/, '"text"'],
  ])("gets %s for %o", async (message, body) => {
    const answer = await send(body)
    expect(answer.status).toBe(400)
    expect((await readProblem(answer)).message).toMatch(message)
  })

  it("has faults of its query and its Idempotency-Key in the same form", async () => {
    const body = { source, outputs: [OUTPUT] }
    const queried = await send(body, {}, "?nonsense=1")
    expect([queried.status, (await readProblem(queried)).message]).toEqual([
      400,
      "nonsense: unknown query parameter; the path takes none",
    ])
    const keyed = await send(body, { "idempotency-key": "not one" })
    expect([keyed.status, (await readProblem(keyed)).message]).toEqual([
      400,
      "Idempotency-Key: expected 1 to 255 visible ASCII characters without spaces",
    ])
    expect(await countJobs()).toBe(0)
  })

  it("gets a 413 if it is too large, and a 415 for another media type", async () => {
    const large = await create({ metadata: { a: "x".repeat(1024 * 1024) } })
    expect([large.status, (await readProblem(large)).code_name]).toEqual([413, "payload_too_large"])
    const other = await create({}, { "content-type": "text/plain" })
    expect([other.status, (await readProblem(other)).code_name]).toEqual([
      415,
      "unsupported_media_type",
    ])
  })

  it("gets a 401 without a key, and cannot name another account's source", async () => {
    const body = JSON.stringify({ source, outputs: [OUTPUT] })
    const headers = { "content-type": "application/json" }
    const open = await fetchWorker("/v1/transcode", { method: "POST", headers, body })
    expect(open.status).toBe(401)
    const { code, error } = await readProblem(open)
    expect([code, error]).toMatchObject(["invalid_token", { code: "invalid_token" }])
    const stranger = await makeCaller(crypto.randomUUID())
    const theirs = await stranger.call("/transcode", { method: "POST", headers, body })
    expect([theirs.status, (await readProblem(theirs)).message]).toEqual([
      400,
      "source: the account has no such file",
    ])
  })

  it("creates no job for its Idempotency-Key", async () => {
    const headers = { "idempotency-key": "twice" }
    expect((await create({ outputs: [] }, headers)).status).toBe(400)
    expect((await create({}, headers)).status).toBe(202)
    expect(await countJobs()).toBe(1)
  })
})

function withOutput(changes: Body): Body {
  return { outputs: [{ ...OUTPUT, ...changes }] }
}
