import { once } from "node:events"
import { createServer } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const batchRecord = z.looseObject({
  id: z.string(),
  status: z.string(),
  progress: z.number(),
  open_jobs: z.number(),
  failed_jobs: z.number(),
  retry_of: z.string().optional(),
  jobs: z.record(
    z.string(),
    z.looseObject({
      id: z.string(),
      status: z.string(),
      needs: z.array(z.string()),
      waiting_for: z.array(z.string()).optional(),
      error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
      outputs: z.record(z.string(), z.looseObject({ url: z.string(), id: z.string().optional() })),
    }),
  ),
})
const problem = z.looseObject({
  details: z.array(z.looseObject({ field: z.string(), code: z.string(), message: z.string() })),
})

let service: TestService
let key: string
const receiver = createServer()
const webhookEvent = z.looseObject({ type: z.string(), data: z.looseObject({ id: z.string() }) })
const received: z.infer<typeof webhookEvent>[] = []

beforeAll(async () => {
  receiver.on("request", (request, response) => {
    let text = ""
    request.on("data", (chunk) => (text += String(chunk)))
    request.on("end", () => {
      const requestId = request.headers["x-request-id"]
      received.push({ ...webhookEvent.parse(JSON.parse(text)), requestId })
      response.end()
    })
  })
  receiver.listen(0, "127.0.0.1")
  await once(receiver, "listening")
  service = await startService({ ALLOWED_PRIVATE_HOSTS: receiverHost() })
  key = await service.makeKey("batches")
})

afterAll(async () => {
  receiver.close()
  await service[Symbol.asyncDispose]()
})

function receiverHost(): string {
  const address = receiver.address()
  return `127.0.0.1:${typeof address === "object" ? (address?.port ?? 0) : 0}`
}

async function call(method: string, path: string, body?: unknown, more = {}) {
  const headers = { "x-api-key": key, "content-type": "application/json", ...more }
  const sent = body === undefined ? null : JSON.stringify(body)
  const answer = await fetch(`${service.origin}/v1${path}`, { method, headers, body: sent })
  const text = await answer.text()
  return {
    status: answer.status,
    body: text === "" ? null : z.unknown().parse(JSON.parse(text)),
    answer,
  }
}

async function create(jobs: unknown, more = {}, headers = {}) {
  const { status, body } = await call("POST", "/batches", { jobs, ...more }, headers)
  if (status !== 202) throw new Error(JSON.stringify(body))
  return batchRecord.parse(body)
}

async function refusal(jobs: unknown) {
  const { status, body } = await call("POST", "/batches", { jobs })
  expect(status).toBe(422)
  return problem.parse(body).details
}

async function read(id: string, more = {}) {
  return batchRecord.parse((await call("GET", `/batches/${id}`, undefined, more)).body)
}

async function end(id: string) {
  return await read(id, { prefer: "wait=60" })
}

/** Create of a film of some seconds with a tone, made as slowly as it would be shown. */
function encode(seconds: number, filter = "") {
  const source = `testsrc=size=64x64:rate=10:duration=${seconds}`
  return {
    commands: {
      ffmpeg_command: `ffmpeg -re -f lavfi -i ${source} -f lavfi -i sine=duration=${seconds} ${filter} -c:v mpeg4 -c:a aac {{out_1}}`,
      output_files: { out_1: "film.mp4" },
    },
  }
}

function remux(input: string) {
  return {
    commands: {
      ffmpeg_command: "ffmpeg -i {{in_1}} -c copy {{out_1}}",
      input_files: { in_1: input },
      output_files: { out_1: "copy.mp4" },
    },
  }
}

const BROKEN = "-vf crop=99999:99999"

describe("a batch", () => {
  it("runs its jobs in the order of their inputs, and sends one webhook at its end", async () => {
    const webhook = `http://${receiverHost()}/`
    const { body, answer } = await call("POST", "/batches", {
      jobs: {
        copy: remux("svc_id://level/file"),
        level: { normalize: { file_url: "svc_id://film/out_1" } },
        film: encode(1),
      },
      webhook,
      metadata: { order: "1" },
    })
    const created = batchRecord.parse(body)
    const requestId = answer.headers.get("x-request-id")
    expect(created).toMatchObject({ status: "running", open_jobs: 3, metadata: { order: "1" } })
    expect(created.jobs["copy"]).toMatchObject({ needs: ["level"], waiting_for: ["level"] })
    const ended = await end(created.id)
    expect(ended).toMatchObject({ status: "success", progress: 100, open_jobs: 0, failed_jobs: 0 })
    expect(Object.keys(ended.jobs)).toEqual(["film", "level", "copy"])
    expect(Object.keys(ended.jobs["level"]?.outputs ?? {})).toEqual(["file"])
    await expect.poll(() => received.filter(({ data }) => data.id === created.id)).toHaveLength(1)
    const [event] = received.filter(({ data }) => data.id === created.id)
    expect(event).toMatchObject({ type: "batch.succeeded", data: ended, requestId })
  })

  it("lists, and answers a repeated Idempotency-Key with the same batch", async () => {
    const once = { "idempotency-key": crypto.randomUUID() }
    const first = await create({ film: encode(0.2) }, {}, once)
    const second = await create({ film: encode(0.2) }, {}, once)
    expect(second.id).toBe(first.id)
    const { status } = await call("POST", "/batches", { jobs: { film: encode(0.3) } }, once)
    expect(status).toBe(409)
    const { body } = await call("GET", "/batches?limit=1")
    expect(body).toMatchObject([{ id: first.id, total_jobs: 1 }])
  })

  it("streams its states to its end", async () => {
    const { id } = await create({ film: encode(1), copy: remux("svc_id://film/out_1") })
    const headers = { "x-api-key": key }
    const answer = await fetch(`${service.origin}/v1/batches/${id}/events`, { headers })
    const text = await answer.text()
    const states = [...text.matchAll(/^event: state\n.*\ndata: (.*)$/gm)].map(([, data = ""]) => {
      return batchRecord.parse(JSON.parse(data)).open_jobs
    })
    expect(states[0]).toBe(2)
    expect(states.at(-1)).toBe(0)
    const last = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ""
    const again = await fetch(`${service.origin}/v1/batches/${id}/events`, {
      headers: { ...headers, "last-event-id": last },
    })
    expect(again.status).toBe(204)
  })

  it("cancels all its open jobs as canceled", async () => {
    const { id } = await create({ film: encode(30), copy: remux("svc_id://film/out_1") })
    const { status, body } = await call("POST", `/batches/${id}/cancel`)
    expect(status).toBe(200)
    const { jobs, failed_jobs } = batchRecord.parse(body)
    expect(failed_jobs).toBe(2)
    expect(Object.values(jobs).map(({ error }) => error?.code)).toEqual(["canceled", "canceled"])
    expect((await call("POST", `/batches/${id}/cancel`)).status).toBe(409)
  })

  it("retries what failed and what is behind it, against the outputs that exist", async () => {
    const first = await create({
      film: encode(0.3),
      broken: {
        commands: {
          ffmpeg_command: `ffmpeg -i {{in_1}} ${BROKEN} {{out_1}}`,
          input_files: { in_1: "svc_id://film/out_1" },
          output_files: { out_1: "broken.mp4" },
        },
      },
      copy: remux("svc_id://broken/out_1"),
    })
    const failed = await end(first.id)
    expect(failed).toMatchObject({ status: "failed", failed_jobs: 2 })
    expect(failed.jobs["copy"]?.error).toMatchObject({ code: "input_failed" })
    const { status, body } = await call("POST", `/batches/${first.id}/retry`)
    expect(status).toBe(202)
    const retried = batchRecord.parse(body)
    expect(retried.retry_of).toBe(first.id)
    expect(Object.keys(retried.jobs)).toEqual(["broken", "copy"])
    expect(retried.jobs["copy"]).toMatchObject({ needs: ["broken"] })
    const ended = await end(retried.id)
    expect(ended.jobs["broken"]?.error?.code).toBe(failed.jobs["broken"]?.error?.code)
    expect(ended.jobs["copy"]?.error?.message).toContain(ended.jobs["broken"]?.id)
  })

  it("is deleted with its jobs and their files", async () => {
    const { id, jobs } = await create({ film: encode(0.2), long: encode(30) })
    await call("GET", `/jobs/${jobs["film"]?.id}`, undefined, { prefer: "wait=30" })
    const file = (await read(id)).jobs["film"]?.outputs["out_1"]
    expect((await call("DELETE", `/batches/${id}`)).status).toBe(200)
    expect((await call("GET", `/batches/${id}`)).status).toBe(404)
    expect((await call("GET", `/jobs/${jobs["long"]?.id}`)).status).toBe(404)
    expect((await call("GET", `/files/${file?.id}`)).status).toBe(404)
  })
})

describe("the retry and the cancellation of a job with its dependents", () => {
  it("repeats the failed job and the jobs behind it", async () => {
    const { id, jobs } = await create({
      film: encode(0.2, BROKEN),
      copy: remux("svc_id://film/out_1"),
      again: remux("svc_id://copy/out_1"),
    })
    await end(id)
    const root = jobs["film"]?.id
    const { status, body } = await call("POST", `/jobs/${root}/retry?dependents=true`)
    expect(status).toBe(202)
    const { id: newId, dependents } = z
      .looseObject({ id: z.string(), dependents: z.array(z.string()) })
      .parse(body)
    expect(dependents).toHaveLength(2)
    const copy = await call("GET", `/jobs/${dependents[0]}`, undefined, { prefer: "wait=30" })
    expect(copy.body).toMatchObject({ retry_of: jobs["copy"]?.id })
    expect(JSON.stringify(copy.body)).toContain(`was not written by the job ${newId}`)
  })

  it("answers a repeated request with the same jobs", async () => {
    const { id, jobs } = await create({
      film: encode(0.2, BROKEN),
      copy: remux("svc_id://film/out_1"),
    })
    await end(id)
    const once = { "idempotency-key": crypto.randomUUID() }
    const path = `/jobs/${jobs["film"]?.id}/retry?dependents=true`
    const retried = z.looseObject({ id: z.string(), dependents: z.array(z.string()) })
    const first = retried.parse((await call("POST", path, undefined, once)).body)
    const second = retried.parse((await call("POST", path, undefined, once)).body)
    expect(second).toMatchObject({ id: first.id, dependents: first.dependents })
    expect(first.dependents).toHaveLength(1)
  })

  it("writes a deleted output again for the jobs behind it", async () => {
    const { id, jobs } = await create({
      film: encode(0.2),
      long: encode(3),
      joined: {
        commands: {
          ffmpeg_command: "ffmpeg -i {{in_1}} -i {{in_2}} -c copy {{out_1}}",
          input_files: { in_1: "svc_id://film/out_1", in_2: "svc_id://long/out_1" },
          output_files: { out_1: "joined.mp4" },
        },
      },
    })
    const film = await call("GET", `/jobs/${jobs["film"]?.id}`, undefined, { prefer: "wait=30" })
    const [output] = z
      .looseObject({ outputs: z.array(z.looseObject({ id: z.string() })) })
      .parse(film.body).outputs
    await call("DELETE", `/files/${output?.id}`)
    expect((await end(id)).jobs["joined"]?.error?.code).toBe("input_deleted")
    const path = `/jobs/${jobs["film"]?.id}/retry?dependents=true`
    const { status, body } = await call("POST", path)
    expect([status, body]).toMatchObject([202, { dependents: [expect.any(String)] }])
    const [joined] = z.looseObject({ dependents: z.array(z.string()) }).parse(body).dependents
    const again = await call("GET", `/jobs/${joined}`, undefined, { prefer: "wait=30" })
    expect(again.body).toMatchObject({ status: "completed" })
  })

  it("of a job behind a canceled one alone names the job to retry", async () => {
    const { id, jobs } = await create({ film: encode(30), copy: remux("svc_id://film/out_1") })
    await call("POST", `/jobs/${jobs["film"]?.id}/cancel`)
    await end(id)
    const { status, body } = await call("POST", `/jobs/${jobs["copy"]?.id}/retry`)
    expect(status).toBe(422)
    expect(problem.parse(body).details[0]?.message).toContain(
      `job ${jobs["film"]?.id}, which was to write it, has no such file (canceled: The job was canceled.); retry that job with dependents=true`,
    )
  })

  it("cancels the jobs behind a job", async () => {
    const { id, jobs } = await create({
      film: encode(30),
      copy: remux("svc_id://film/out_1"),
      again: remux("svc_id://copy/out_1"),
    })
    await call("POST", `/jobs/${jobs["film"]?.id}/cancel?dependents=true`)
    const codes = Object.values((await end(id)).jobs).map(({ error }) => error?.code)
    expect(codes).toEqual(["canceled", "canceled", "canceled"])
  })
})

describe("a batch is refused", () => {
  it("with every fault of every job at its place", async () => {
    const faults = await refusal({
      level: { normalize: { file_url: "svc_id://film/out_9", loudnorm_i: 3 } },
      film: encode(0.2),
      captions: remux("svc_id://nothing/srt"),
      Bad: encode(0.2),
      two: { ...encode(0.2), normalize: {} },
      odd: { command: {} },
    })
    const places = faults.map(({ field, code }) => `${field} ${code}`)
    expect(places).toEqual(
      expect.arrayContaining([
        "jobs.level.file_url no_such_output",
        "jobs.level.loudnorm_i invalid_field",
        "jobs.captions.input_files.in_1 no_such_job",
        "jobs.Bad invalid_field",
        "jobs.two invalid_field",
        "jobs.odd invalid_field",
      ]),
    )
    expect(places).toHaveLength(6)
    const unknown = faults.find(({ code }) => code === "no_such_job")
    expect(unknown?.message).toContain("it has level, film, captions, Bad, two, odd")
  })

  it("for headers beside an output of another job", async () => {
    const level = { normalize: { file_url: { url: "svc_id://film/out_1", headers: { a: "b" } } } }
    const faults = await refusal({ film: encode(0.2), level })
    expect(faults).toMatchObject([{ field: "jobs.level.file_url.url", code: "invalid_reference" }])
  })

  it("for a circle, and creates nothing", async () => {
    const before = (await call("GET", "/jobs?limit=1")).body
    const faults = await refusal({
      one: remux("svc_id://two/out_1"),
      two: remux("svc_id://one/out_1"),
      behind: remux("svc_id://two/out_1"),
      film: encode(0.2),
    })
    expect(faults[0]?.message).toMatch(/in a circle: one needs two, two needs one$/)
    expect(faults.map(({ field, code }) => `${field} ${code}`)).toEqual([
      "jobs.one.input_files.in_1 circular_input",
      "jobs.two.input_files.in_1 circular_input",
    ])
    expect((await call("GET", "/jobs?limit=1")).body).toEqual(before)
  })

  it("for commands that together have too many words", async () => {
    const { commands } = encode(0.2)
    const ffmpeg_command = `${commands.ffmpeg_command} ${"-y ".repeat(11_000)}`
    const long = { commands: { ...commands, ffmpeg_command } }
    expect(await refusal({ one: long, two: long })).toMatchObject([
      { field: "jobs.one.ffmpeg_command", code: "too_complex" },
    ])
  })

  it("for more than ten jobs in a chain, and for more than 64 jobs", async () => {
    const chain: Record<string, object> = { job_1: encode(0.2) }
    for (let at = 2; at <= 11; at += 1) chain[`job_${at}`] = remux(`svc_id://job_${at - 1}/out_1`)
    expect(await refusal(chain)).toMatchObject([
      { field: "jobs.job_11.input_files.in_1", code: "chain_too_long" },
    ])
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`job_${at}`, encode(1)]))
    expect(await refusal(many)).toMatchObject([{ field: "jobs" }])
  })
})
