import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import {
  CONTAINERS_OF_CODEC,
  RENDITION_CODECS,
  RENDITION_CONTAINERS,
  RENDITION_SIZES,
  renderTask,
} from "../../../src/contract/tasks/render.ts"
import { transcodeRequest } from "../../../src/kinds/transcode/request.ts"
import { accountOf } from "../../support/bundle.ts"
import { ask, makeCaller, upload } from "../../support/caller.ts"
import type { Caller } from "../../support/caller.ts"
import { readProblem } from "../../support/problem.ts"
import { renderResult } from "../../support/rendered.ts"
import { endTask, findTask, imported, PROBED, readJob } from "../../support/stand-in-runner.ts"

const PAGE = "https://media.example/films/A%20film.webm"
const HOOK = "https://receiver.example/"
const OUTPUT = { codec: "h264", resolution: "480p" }

const accepted = z.looseObject({ id: z.uuid(), status: z.string() })

type Body = Record<string, unknown>

let caller: Caller
let accountId: string
let source: string
let download_url: string

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID())
  accountId = await accountOf(caller)
  const file = await upload(caller, "film.mkv", "bytes")
  await endTask(await findTask(accountId, file.id, "probe"), PROBED)
  source = `svc_id://${file.id}`
  ;({ download_url } = file)
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

async function createdId(changes: Body = {}): Promise<string> {
  const answer = await create(changes)
  expect(answer.status).toBe(202)
  return accepted.parse(await answer.json()).id
}

async function workOf(changes: Body = {}) {
  const { work, pool } = await findTask(accountId, await createdId(changes), "render")
  expect(pool).toBe("media")
  return renderTask.work.strict().parse(work)
}

async function countJobs(): Promise<number> {
  const listed = await caller.call("/jobs?kind=transcode")
  return z.array(z.unknown()).parse(await listed.json()).length
}

describe("POST /transcode", () => {
  it("answers the Job, which is among the jobs alone", async () => {
    const answer = await create({ metadata: { mine: "1" } })
    expect(answer.status).toBe(202)
    const job = accepted.parse(await answer.json())
    const facts = { kind: "transcode", status: "queued", outputs: [], metadata: { mine: "1" } }
    expect(job).toMatchObject(facts)
    expect(answer.headers.get("location")).toBe(`https://lathe.test/v1/jobs/${job.id}`)
    expect(await (await caller.call(`/jobs/${job.id}`)).json()).toEqual(job)
    expect((await caller.call(`/transcode/${job.id}`)).status).toBe(404)
    expect((await caller.call("/transcode")).status).toBe(405)
  })

  it("answers the same where its caller prefers to wait", async () => {
    const answer = await create({}, { prefer: "wait=0" })
    expect([answer.status, answer.headers.get("preference-applied")]).toEqual([202, "wait=0"])
    const job = accepted.parse(await answer.json())
    expect(job).toEqual(await (await caller.call(`/jobs/${job.id}`)).json())
  })

  it("makes mp4 by quality, and measures it, where nothing else is asked for", async () => {
    expect(await workOf()).toEqual({
      kind: "render",
      renditions: [{ key: "out_1", ...OUTPUT, container: "mp4" }],
      measures_quality: true,
      run_seconds_max: 300,
      outputs: [{ key: "out_1", name: "out_1.mp4" }],
    })
    const { measures_quality } = await workOf({ quality_metrics: false })
    expect(measures_quality).toBe(false)
  })

  it("takes 32 renditions, in their order, and the same one twice", async () => {
    const outputs = Array.from({ length: 32 }, (_, index) => {
      return { codec: RENDITION_CODECS[index % 4], resolution: "720p", bitrate_kbps: 100 + index }
    })
    const { renditions } = await workOf({ outputs })
    expect(renditions).toEqual(
      outputs.map((output, index) => ({ key: `out_${index + 1}`, ...output, container: "mp4" })),
    )
    const twice = await workOf({ outputs: [OUTPUT, OUTPUT] })
    expect(twice.outputs.map(({ name }) => name)).toEqual(["out_1.mp4", "out_2.mp4"])
  })

  it.each([100, 200_000])("takes a rate of %i kbps", async (bitrate_kbps) => {
    const { renditions } = await workOf({ outputs: [{ ...OUTPUT, bitrate_kbps }] })
    expect(renditions).toMatchObject([{ bitrate_kbps }])
  })

  it.each([0, 7, 100])("has a task of the priority %i", async (priority) => {
    const { job, tasks } = await readJob(accountId, await createdId({ priority }))
    expect([job.priority, ...tasks.map((task) => task.priority)]).toEqual([priority, priority])
  })

  it.each([
    ["webhook_url", "job"],
    ["webhook", "native"],
  ])("keeps its %s, of the form %s", async (field, form) => {
    const { job } = await readJob(accountId, await createdId({ [field]: HOOK }))
    expect(job).toMatchObject({ webhookUrl: HOOK, webhookForm: form })
  })

  it("is one job for one Idempotency-Key, whatever the spelling", async () => {
    const headers = { "idempotency-key": "once" }
    const first = accepted.parse(await (await create({}, headers)).json())
    const outputs = [{ container: "mp4", resolution: "480p", codec: "h264" }]
    const again = await create({ outputs, priority: 50, quality_metrics: true }, headers)
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([202, "true"])
    expect(accepted.parse(await again.json()).id).toBe(first.id)
    const other = await create({ source: download_url }, headers)
    expect([other.status, (await readProblem(other)).code_name]).toEqual([
      409,
      "idempotency_conflict",
    ])
    expect(await countJobs()).toBe(1)
  })
})

describe("the source of a transcode", () => {
  it("may be a File's download_url", async () => {
    const { inputs, job } = await readJob(accountId, await createdId({ source: download_url }))
    expect(inputs.map(({ fileId }) => `svc_id://${fileId}`)).toEqual([source])
    expect(job.request).toMatchObject({ source_name: "film.mkv" })
  })

  it("is brought in from a URL, and becomes a File", async () => {
    const id = await createdId({ source: PAGE, outputs: [{ ...OUTPUT, codec: "av1" }] })
    await endTask(await findTask(accountId, id, "import"), imported({ name: "Its own name.webm" }))
    await endTask(await findTask(accountId, id, "probe"), PROBED)
    await endTask(await findTask(accountId, id, "render"), { result: renderResult("out_1") })
    const { outputs } = await (await caller.call(`/jobs/${id}`)).json<{ outputs: object[] }>()
    const url = expect.stringMatching(/\/Its%20own%20name_480p_av1\.mp4$/)
    expect(outputs).toMatchObject([{ url, codec: "av1" }])
    const imports = await (await caller.call("/files?source=import")).json()
    expect(imports).toMatchObject([{ name: "Its own name.webm", source_url: PAGE }])
  })

  it("fails its job where it cannot be brought in", async () => {
    const id = await createdId({ source: PAGE })
    const failure = { code: "not_found" as const, message: "There is no such file (404)." }
    await endTask(await findTask(accountId, id, "import"), { failure })
    const message =
      'The input "source" could not be brought in: not_found: There is no such file (404).'
    expect(await (await caller.call(`/jobs/${id}`)).json()).toMatchObject({
      status: "failed",
      error: { code: "input_failed", message },
    })
  })
})

describe("a transcode that is done again", () => {
  it("is a new job of the same request and the same file", async () => {
    const id = await createdId({ webhook_url: HOOK, priority: 7, metadata: { a: "b" } })
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    const answer = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    expect(answer.status).toBe(202)
    const again = accepted.parse(await answer.json())
    expect(again).toMatchObject({ kind: "transcode", retry_of: id, metadata: { a: "b" } })
    const [first, second] = [await readJob(accountId, id), await readJob(accountId, again.id)]
    expect(second.job).toMatchObject({ priority: 7, webhookUrl: HOOK, webhookForm: "job" })
    expect(second.job.request).toEqual(first.job.request)
    expect(second.tasks.map(({ work }) => work)).toEqual(first.tasks.map(({ work }) => work))
    await endTask(await findTask(accountId, again.id, "render"), { result: renderResult("out_1") })
    const shown = await (await caller.call(`/jobs/${again.id}`)).json()
    const url = expect.stringMatching(/\/film_480p_h264\.mp4$/)
    expect(shown).toMatchObject({ status: "completed", outputs: [{ url }] })
  })

  it("is deleted with what it made, and not with its source", async () => {
    const id = await createdId()
    await endTask(await findTask(accountId, id, "render"), { result: renderResult("out_1") })
    expect(await (await caller.call("/files?source=output")).json()).toHaveLength(1)
    expect((await caller.call(`/jobs/${id}`, { method: "DELETE" })).status).toBe(200)
    expect(await (await caller.call("/files?source=output")).json()).toEqual([])
    expect(await (await caller.call("/files")).json()).toHaveLength(1)
  })
})

const combinations = RENDITION_CODECS.flatMap((codec) =>
  RENDITION_SIZES.flatMap((resolution) =>
    RENDITION_CONTAINERS.map((container) => ({ codec, resolution, container })),
  ),
)

describe("every codec in every size and container", () => {
  function isPossible({ codec, container }: (typeof combinations)[number]): boolean {
    return CONTAINERS_OF_CODEC[codec].some((possible) => possible === container)
  }
  const possible = combinations.filter(isPossible)
  const impossible = combinations.filter((each) => !isPossible(each))

  it("is possible in 32 of 48 ways, all of them at once too", async () => {
    expect([possible.length, impossible.length]).toEqual([32, 16])
    const { renditions } = await workOf({ outputs: possible })
    expect(renditions.map(({ key: _, ...rendition }) => rendition)).toEqual(possible)
  })

  it.each(possible)("takes $codec in $resolution and $container", (output) => {
    expect(transcodeRequest.safeParse({ source, outputs: [output] }).error).toBeUndefined()
  })

  it.each(impossible)("refuses $codec in $resolution and $container", async (output) => {
    const answer = await create({ outputs: [OUTPUT, output] })
    expect(answer.status).toBe(400)
    const { codec, container } = output
    const can = codec === "h264" || codec === "h265" ? "mp4 or mov" : "mp4 or webm"
    expect((await readProblem(answer)).message).toBe(
      `outputs.1.container: expected ${can}, since players take no ${codec} in ${container}`,
    )
  })
})

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
    [/^outputs: expected an array of renditions$/, { outputs: undefined }],
    [/^outputs: expected an array of renditions$/, { outputs: OUTPUT }],
    [/^outputs: expected at least one rendition$/, { outputs: [] }],
    [/^outputs: expected at most 32 renditions$/, { outputs: many }],
    [/^outputs\.0: expected an object of fields$/, { outputs: ["480p"] }],
    [/^outputs\.0\.codec: expected one of h264, h265, vp9, av1$/, withOutput({ codec: "H264" })],
    [/^outputs\.0\.codec: expected one of/, withOutput({ codec: undefined })],
    [
      /^outputs\.0\.resolution: expected one of 480p, 720p, 1080p, 4k$/,
      withOutput({ resolution: 480 }),
    ],
    [/^outputs\.0\.resolution: expected one of/, withOutput({ resolution: undefined })],
    [/^outputs\.0\.container: expected one of mp4, webm, mov$/, withOutput({ container: "mkv" })],
    [/^outputs\.0\.container: expected one of/, withOutput({ container: null })],
    ...[99, 200_001, 1500.5, "1500", 0, -1, null].map((rate): [RegExp, Body] => [
      /^outputs\.0\.bitrate_kbps: expected a whole number from 100 to 200000$/,
      withOutput({ bitrate_kbps: rate }),
    ]),
    [/^outputs\.0\.bitrate: there is no such field$/, withOutput({ bitrate: 7 })],
    [/^quality_metrics: expected true or false$/, { quality_metrics: "false" }],
    [/^priority: expected a whole number from 0 to 100$/, { priority: 101 }],
    [/^metadata: expected an object of texts$/, { metadata: [] }],
    [/^metadata: expected at most 10 pairs$/, { metadata: Object.fromEntries(texts) }],
    [/^metadata\.a: expected a text$/, { metadata: { a: 7 } }],
    [/^webhook: expected a URL$/, { webhook: 7 }],
    [/^webhook_url: .*public host/, { webhook_url: "http://localhost/" }],
    [/^webhook_url: expected it or webhook, and not both$/, { webhook: HOOK, webhook_url: HOOK }],
    [/^nonsense: there is no such field$/, { nonsense: 1 }],
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
    [/^body: expected JSON, and it cannot be parsed$/, "{"],
    [/^body: expected JSON, and it cannot be parsed$/, ""],
    [/^body: expected an object of fields$/, []],
    [/^body: expected an object of fields$/, "null"],
    [/^body: expected an object of fields$/, '"text"'],
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
      "nonsense: there is no such query parameter",
    ])
    const keyed = await send(body, { "idempotency-key": "not one" })
    expect([keyed.status, (await readProblem(keyed)).message]).toEqual([
      400,
      "Idempotency-Key: expected 1 to 255 visible ASCII characters",
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
    const rows = env.DB.prepare(
      "select count(*) as n from jobs where account_id = ? and kind = 'transcode'",
    )
    expect(await rows.bind(accountId).first("n")).toBe(1)
  })
})

function withOutput(changes: Body): Body {
  return { outputs: [{ ...OUTPUT, ...changes }] }
}
