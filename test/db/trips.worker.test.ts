import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it, vi } from "vitest"
import type { TaskOrder } from "../../src/contract/task.ts"
import { fetchWorker, makeCaller } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"
import { makeCommandBody } from "../support/media/command-request.ts"
import { recordD1RoundTrips } from "../support/db/counted-trips.ts"
import type { D1RoundTrip } from "../support/db/counted-trips.ts"
import { makeFormFile, postNormalizeForm } from "../support/media/kind-upload.ts"
import { makeNormalizeResult } from "../support/media/normalized.ts"
import { PROBE_RESULT } from "../support/runner/stand-in-runner.ts"
import { WEBHOOK_RECEIVER_URL, startFakePlainRunner } from "../support/runner/tiny-runner.ts"
import type { TaskOutcome } from "../support/runner/tiny-runner.ts"

/** Time in which notes of jobs are written. */
const SETTLE_MS = 600

/** Reads of keys and plans, and writes of counts, which happen by time and not by request. */
const BY_TIME = /^(?:select (?:keys|accounts)|insert usage_days, update keys)$/

/** Note of started jobs, which slow jobs on a busy machine cause, once for all of a moment. */
const BEGUN = "update jobs, update files"

/** Batches that create a job, claim its task, settle it and send its webhook. */
const [CREATE, CLAIM, SETTLE] = ["create", "claim", "settle"]
const [CLAIM_TRY, END_TRY] = ["claim a try", "end a try"]
const BATCHES = [
  [/^(?:delete idempotency, insert idempotency, )?insert jobs, .*insert task_inputs/, CREATE],
  [/^update tasks, update jobs, update task_inputs, select jobs/, CLAIM],
  [/^delete task_inputs, delete tasks, .*update jobs$/, SETTLE],
  [/^update deliveries, select deliveries,/, CLAIM_TRY],
  [/^insert delivery_tries, update deliveries/, END_TRY],
] as const

/** Query by which a test checks the delivery of a webhook. */
const TEST = "select deliveries"

/** Query of a dispatcher's alarm, and of a test that checks for the end of a task. */
const ALARM = "select tasks"

const WAITS = { timeout: 60_000, interval: 50 }

let caller: TestCaller

beforeEach(async () => {
  caller = await makeCaller(`trips ${crypto.randomUUID()}`)
  startFakePlainRunner(work)
})

async function work({ work: { kind } }: TaskOrder): Promise<TaskOutcome> {
  if (kind === "probe") return { result: PROBE_RESULT }
  if (kind === "normalize") return { outputs: { output: "x" }, result: makeNormalizeResult() }
  const outputs = [{ key: "out_1", size_bytes: 1, content_type: "video/mp4" }]
  return { outputs: { out_1: "x" }, result: { kind, outputs } }
}

/** Returns the trips of some work and of its work in the background. */
async function tripsOf(work: () => Promise<void>): Promise<D1RoundTrip[]> {
  const trips = await recordD1RoundTrips(async () => {
    await work()
    await scheduler.wait(SETTLE_MS)
  })
  const others = trips.filter((trip) => !BY_TIME.test(trip))
  const begun = others.filter((trip) => trip === BEGUN)
  // Each dispatch is noted at most once.
  expect(begun.length).toBeLessThanOrEqual(others.filter((trip) => nameOf(trip) === CLAIM).length)
  return others.filter((trip) => trip !== BEGUN && trip !== ALARM).map(nameOf)
}

function nameOf(trip: D1RoundTrip): string {
  return BATCHES.find(([batch]) => batch.test(trip))?.[1] ?? trip
}

/** Returns the trips of a request, without those that happen by time. */
async function tripsToLook(look: () => Promise<unknown>): Promise<D1RoundTrip[]> {
  const trips = await recordD1RoundTrips(async () => void (await look()))
  return trips.filter((trip) => !BY_TIME.test(trip) && trip !== ALARM)
}

async function statusOf(id: string): Promise<string> {
  const answer = await caller.call(`/commands/${id}`)
  return (await answer.json<{ status: string }>()).status
}

/** Reports whether the receiver took the webhook of a job. */
async function isTold(jobId: string): Promise<boolean> {
  const query = env.DB.prepare("select d.completed_at from deliveries d where job_id = ?")
  return (await query.bind(jobId).first("completed_at")) !== null
}

async function sendFile(file: File, headers: Record<string, string> = {}): Promise<Response> {
  const body = new FormData()
  body.append("file", file)
  return await caller.call("/files", { method: "POST", headers, body })
}

async function uploadProbed(): Promise<string> {
  const answer = await sendFile(new File(["x"], "clip.mp4"), { prefer: "wait=20" })
  const record = await answer.json<{ id: string; status: string; ffprobe: unknown }>()
  expect(record).toMatchObject({ status: "success", ffprobe: { width: 4 } })
  return record.id
}

/** Uploads a file without waiting for its probe; returns its id. */
async function uploadAndProbe(): Promise<string> {
  const { id } = await (await sendFile(new File(["x"], "clip.mp4"))).json<{ id: string }>()
  const query = env.DB.prepare("select t.id from tasks t where job_id = ?").bind(id)
  await vi.waitFor(async () => expect(await query.first()).toBeNull(), WAITS)
  return id
}

/** Returns the trips of a request up to the batch that creates its job. */
async function tripsToAccept(
  request: () => Promise<void>,
): Promise<{ before: D1RoundTrip[]; create: D1RoundTrip | undefined }> {
  const trips = (await recordD1RoundTrips(request)).filter((trip) => !BY_TIME.test(trip))
  await scheduler.wait(SETTLE_MS)
  const at = trips.findIndex((trip) => trip.includes("insert jobs"))
  return { before: at < 0 ? trips : trips.slice(0, at), create: trips[at] }
}

async function command(
  fileId: string,
  headers: Record<string, string> = {},
  changes: Record<string, unknown> = {},
) {
  const answer = await caller.call("/commands", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(makeCommandBody(fileId, changes)),
  })
  expect(answer.status).toBe(202)
  return await answer.json<{ command_id: string; status?: string }>()
}

describe("trips to D1", () => {
  it("number four for an upload and its probe, and one for a waiting caller", async () => {
    const trips = await tripsOf(async () => void (await uploadProbed()))
    expect(trips).toEqual(["insert uploads", CREATE, CLAIM, SETTLE, "select files"])
  })

  it("include a second read of a job that changed since its claim", async () => {
    startFakePlainRunner(async (order) => {
      const change = env.DB.prepare("update jobs set version = version + 1 where id = ?")
      await change.bind(order.job_id).run()
      return await work(order)
    })
    const trips = await tripsOf(async () => void (await uploadProbed()))
    const read =
      "select jobs, select tasks, select files, select task_inputs, select webhook_endpoints"
    const of = [
      "insert uploads",
      CREATE,
      CLAIM,
      "update jobs",
      SETTLE,
      read,
      SETTLE,
      "select files",
    ]
    expect(trips).toEqual(of)
  })

  it("number two for the response to an upload that nobody waits for", async () => {
    startFakePlainRunner(() => new Promise(() => undefined))
    const trips = await tripsOf(async () => {
      expect((await sendFile(new File(["x"], "clip.mp4"))).status).toBe(201)
    })
    expect(trips).toEqual(["insert uploads", CREATE, CLAIM])
  })

  it("number four for a command, and one for a waiting caller", async () => {
    const fileId = await uploadProbed()
    const trips = await tripsOf(async () => {
      expect(await command(fileId, { prefer: "wait=20" })).toMatchObject({ status: "success" })
    })
    expect(trips).toEqual(["select files, select jobs", CREATE, CLAIM, SETTLE, "select jobs"])
  })

  it("number ten from an upload to the webhook of its command", async () => {
    const trips = await tripsOf(async () => {
      const fileId = await uploadAndProbe()
      const headers = { "idempotency-key": "life" }
      const { command_id: id } = await command(fileId, headers, { webhook: WEBHOOK_RECEIVER_URL })
      await vi.waitFor(async () => expect(await isTold(id)).toBe(true), WAITS)
    })
    const ofTest = trips.filter((trip) => trip !== TEST)
    const ofUpload = ["insert uploads", CREATE, CLAIM, SETTLE]
    const ofCommand = ["select files, select jobs, select idempotency", CREATE, CLAIM, SETTLE]
    const all = [ofUpload, ofCommand, CLAIM_TRY, END_TRY].flat()
    expect(ofTest.toSorted()).toEqual(all.toSorted())
  })

  it("number two until a command is accepted, and one for its repetition", async () => {
    const fileId = await uploadProbed()
    const webhook = WEBHOOK_RECEIVER_URL
    const headers = { "idempotency-key": "once" }
    const toKey = "select files, select jobs, select idempotency"
    const first = await tripsToAccept(async () => void (await command(fileId)))
    expect(first.before).toEqual(["select files, select jobs"])
    const told = await tripsToAccept(async () => void (await command(fileId, {}, { webhook })))
    expect(told.before).toEqual(["select files, select jobs"])
    const keyed = await tripsToAccept(async () => void (await command(fileId, headers)))
    expect(keyed.before).toEqual([toKey])
    expect(keyed.create).toContain("insert idempotency")
    const again = await tripsToAccept(async () => void (await command(fileId, headers)))
    expect(again).toEqual({ before: [toKey], create: undefined })
  })

  it("number two until a job with a file is accepted, with or without a key", async () => {
    for (const headers of [{}, { "idempotency-key": "file" }]) {
      const { before, create } = await tripsToAccept(async () => {
        const answer = await postNormalizeForm(caller, [["file", makeFormFile()]], headers)
        expect(answer.status).toBe(202)
      })
      expect(before).toEqual(["insert uploads"])
      expect(create).toContain("insert files")
    }
  })

  it("number one for GET of a command, open or finished, and of a list", async () => {
    const fileId = await uploadProbed()
    startFakePlainRunner(() => new Promise(() => undefined))
    const { command_id: id } = await command(fileId)
    await vi.waitFor(async () => expect(await statusOf(id)).toBe("running"), WAITS)
    expect(await tripsToLook(() => statusOf(id))).toEqual(["select jobs"])
    expect(await tripsToLook(() => caller.call("/commands"))).toEqual(["select jobs"])
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    expect(await tripsToLook(() => statusOf(id))).toEqual(["select jobs"])
  })

  it("number one for the link of a download, and none for its bytes", async () => {
    const fileId = await uploadProbed()
    let place = ""
    const linking = await tripsOf(async () => {
      const link = await caller.call(`/files/${fileId}/clip.mp4`)
      place = link.headers.get("location") ?? ""
    })
    expect(linking.filter((trip) => trip !== ALARM)).toEqual(["select files"])
    const reading = await tripsOf(async () => {
      expect((await (await fetchWorker(place)).arrayBuffer()).byteLength).toBe(1)
    })
    expect(reading.filter((trip) => trip !== ALARM)).toEqual([])
  })
})
