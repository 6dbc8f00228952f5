import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import {
  CONTAINERS_BY_CODEC,
  RENDITION_CODECS,
  RENDITION_CONTAINERS,
  RENDITION_SIZES,
  renderTaskDefinition,
} from "../../../../src/contract/tasks/render.ts"
import { transcodeRequestSchema } from "../../../../src/kinds/transcode/request.ts"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { readProblem } from "../../../support/problem.ts"
import { makeRenderResult } from "../../../support/media/rendered.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  makeImportEnd,
  PROBE_TASK_END,
  readJob,
} from "../../../support/runner/stand-in-runner.ts"

const PAGE = "https://media.example/films/A%20film.webm"
const HOOK = "https://receiver.example/"
const OUTPUT = { codec: "h264", resolution: "480p" }

const accepted = z.looseObject({ id: z.uuid(), status: z.string() })

type Body = Record<string, unknown>

let caller: TestCaller
let accountId: string
let source: string
let download_url: string

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID())
  accountId = await findCallerAccountId(caller)
  const file = await uploadTestFile(caller, "film.mkv", "bytes")
  await claimAndEndTask(await findTaskByKind(accountId, file.id, "probe"), PROBE_TASK_END)
  source = `svc_id://${file.id}`
  ;({ download_url } = file)
})

async function create(changes: Body = {}, headers: Record<string, string> = {}) {
  return await caller.call("/transcode", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ source, outputs: [OUTPUT], ...changes }),
  })
}

async function createdId(changes: Body = {}): Promise<string> {
  const answer = await create(changes)
  expect(answer.status).toBe(202)
  return accepted.parse(await answer.json()).id
}

async function workOf(changes: Body = {}) {
  const { work, pool } = await findTaskByKind(accountId, await createdId(changes), "render")
  expect(pool).toBe("media")
  return renderTaskDefinition.work.strict().parse(work)
}

async function countJobs(): Promise<number> {
  const listed = await caller.call("/jobs?kind=transcode")
  return z.array(z.unknown()).parse(await listed.json()).length
}

describe("POST /transcode", () => {
  it("answers the Job, which is only in the list of jobs", async () => {
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

  it("answers the same if its caller prefers to wait", async () => {
    const answer = await create({}, { prefer: "wait=0" })
    expect([answer.status, answer.headers.get("preference-applied")]).toEqual([202, "wait=0"])
    const job = accepted.parse(await answer.json())
    expect(job).toEqual(await (await caller.call(`/jobs/${job.id}`)).json())
  })

  it("writes mp4 by the preset's quality, without scores by default", async () => {
    expect(await workOf()).toEqual({
      kind: "render",
      renditions: [{ key: "out_1", ...OUTPUT, container: "mp4" }],
      measures_quality: false,
      run_seconds_max: 300,
      outputs: [{ key: "out_1", name: "out_1.mp4" }],
    })
  })

  it.each([true, false])("measures quality if quality_metrics is true: %s", async (asked) => {
    expect((await workOf({ quality_metrics: asked })).measures_quality).toBe(asked)
  })

  it("accepts 32 renditions in order, even equal ones", async () => {
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

  it.each([100, 200_000])("accepts a rate of %i kbps", async (bitrate_kbps) => {
    const { renditions } = await workOf({ outputs: [{ ...OUTPUT, bitrate_kbps }] })
    expect(renditions).toMatchObject([{ bitrate_kbps }])
  })

  it.each([0, 7, 100])("creates a task of priority %i", async (priority) => {
    const { job, tasks } = await readJob(accountId, await createdId({ priority }))
    expect([job.priority, ...tasks.map((task) => task.priority)]).toEqual([priority, priority])
  })

  it.each([
    ["webhook_url", "job"],
    ["webhook", "native"],
  ])("keeps its %s in the %s form", async (field, form) => {
    const { job } = await readJob(accountId, await createdId({ [field]: HOOK }))
    expect(job).toMatchObject({ webhookUrl: HOOK, webhookForm: form })
  })

  it("creates one job per Idempotency-Key, whatever the spelling", async () => {
    const headers = { "idempotency-key": "once" }
    const first = accepted.parse(await (await create({}, headers)).json())
    const outputs = [{ container: "mp4", resolution: "480p", codec: "h264" }]
    const again = await create({ outputs, priority: 50, quality_metrics: false }, headers)
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

  it("is imported from a URL and becomes a File", async () => {
    const id = await createdId({ source: PAGE, outputs: [{ ...OUTPUT, codec: "av1" }] })
    await claimAndEndTask(
      await findTaskByKind(accountId, id, "import"),
      makeImportEnd({ name: "Its own name.webm" }),
    )
    await claimAndEndTask(await findTaskByKind(accountId, id, "probe"), PROBE_TASK_END)
    await claimAndEndTask(await findTaskByKind(accountId, id, "render"), {
      result: makeRenderResult("out_1"),
    })
    const { outputs } = await (await caller.call(`/jobs/${id}`)).json<{ outputs: object[] }>()
    const url = expect.stringMatching(/\/Its%20own%20name_480p_av1\.mp4$/)
    expect(outputs).toMatchObject([{ url, codec: "av1" }])
    const imports = await (await caller.call("/files?source=import")).json()
    expect(imports).toMatchObject([{ name: "Its own name.webm", source_url: PAGE }])
  })

  it("fails its job if it cannot be imported", async () => {
    const id = await createdId({ source: PAGE })
    const failure = { code: "not_found" as const, message: "There is no such file (404)." }
    await claimAndEndTask(await findTaskByKind(accountId, id, "import"), { failure })
    const message =
      'The input "source" could not be imported: not_found: There is no such file (404).'
    expect(await (await caller.call(`/jobs/${id}`)).json()).toMatchObject({
      status: "failed",
      error: { code: "input_failed", message },
    })
  })
})

describe("a retried transcode", () => {
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
    await claimAndEndTask(await findTaskByKind(accountId, again.id, "render"), {
      result: makeRenderResult("out_1"),
    })
    const shown = await (await caller.call(`/jobs/${again.id}`)).json()
    const url = expect.stringMatching(/\/film_480p_h264\.mp4$/)
    expect(shown).toMatchObject({ status: "completed", outputs: [{ url }] })
  })

  it("is deleted with its outputs, and without its source", async () => {
    const id = await createdId()
    await claimAndEndTask(await findTaskByKind(accountId, id, "render"), {
      result: makeRenderResult("out_1"),
    })
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
    return CONTAINERS_BY_CODEC[codec].some((possible) => possible === container)
  }
  const possible = combinations.filter(isPossible)
  const impossible = combinations.filter((each) => !isPossible(each))

  it("is possible in 56 of 84 combinations, 32 of them at once", async () => {
    expect([possible.length, impossible.length]).toEqual([56, 28])
    const outputs = possible.slice(0, 32)
    const { renditions } = await workOf({ outputs })
    expect(renditions).toEqual(
      outputs.map((output, index) => ({ key: `out_${index + 1}`, ...output })),
    )
  })

  it.each(possible)("accepts $codec in $resolution and $container", (output) => {
    expect(transcodeRequestSchema.safeParse({ source, outputs: [output] }).error).toBeUndefined()
  })

  it.each(impossible)("refuses $codec in $resolution and $container", async (output) => {
    const answer = await create({ outputs: [OUTPUT, output] })
    expect(answer.status).toBe(400)
    const { codec, container } = output
    const can = codec === "h264" || codec === "h265" ? "mp4 or mov" : "mp4 or webm"
    expect((await readProblem(answer)).message).toBe(
      `outputs.1.container: expected ${can}, since players do not play ${codec} in ${container}`,
    )
  })
})
