import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { findWorkerd } from "../../faults/processes.ts"
import { openSlowBody, openSlowUpload } from "./slow-upload.ts"
import { countObjects, countUploads } from "../operate/state-rows.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const MIB = 1024 ** 2
const IDLE_SECONDS = 3
/** Idle time in which a busy machine opens 32 uploads and sends their bytes. */
const LONG_IDLE_SECONDS = 20
/** The smallest part that R2 takes, which the Worker's parts are for files below 50 GiB. */
const PART_BYTES = 5 * MIB
const UPLOADS_MAX = 16
const FILE_BYTES_MAX = 20 * MIB

let service: TestService
let key: string

beforeAll(async () => {
  service = await startService({
    UPLOAD_IDLE_SECONDS: String(IDLE_SECONDS),
    TRIAL_FILE_BYTES_MAX: String(FILE_BYTES_MAX),
  })
  key = await service.makeKey("slow")
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
  return text.split(" ").filter(Boolean).map(Number)
}

/** Resident memory of the workerd that the service runs, in bytes. */
function workerdBytes({ pid }: TestService): number {
  const family = [pid]
  for (const parent of family) family.push(...childrenOf(parent))
  const those = family.filter((each) =>
    readFileSync(`/proc/${each}/comm`, "utf8").includes("workerd"),
  )
  expect(those.length).toBeGreaterThan(0)
  return those.reduce((sum, each) => {
    const status = readFileSync(`/proc/${each}/status`, "utf8")
    return sum + Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
  }, 0)
}

/** Waits until nothing is left of uploads that came to nothing. */
async function untilNothingIsLeft(of = service): Promise<void> {
  while (countUploads(of.stateDir) > 0) await sleep(100)
}

async function filesOf(of: string): Promise<unknown> {
  const headers = { "x-api-key": of }
  return await (await fetch(`${service.origin}/v1/files`, { headers })).json()
}

describe("a stalled upload", () => {
  test("is closed with 408 and leaves nothing behind", async () => {
    const upload = await openSlowUpload(service.origin, { key })
    await upload.send(new Uint8Array(PART_BYTES + MIB))
    expect(await upload.answered).toMatchObject({ status: 408, code: "request_timeout" })
    await untilNothingIsLeft()
    expect(await filesOf(key)).toEqual([])
  })

  test("is closed even with a Content-Length", async () => {
    const upload = await openSlowUpload(service.origin, { key, sizeBytes: 10 * MIB })
    await upload.send(new Uint8Array(MIB))
    expect(await upload.answered).toMatchObject({ status: 408, code: "request_timeout" })
  })

  test("is closed even if single bytes arrive before each timeout", async () => {
    const upload = await openSlowUpload(service.origin, { key })
    const drip = setInterval(() => void upload.send("x"), (IDLE_SECONDS * 1000) / 2)
    const answer = await upload.answered
    clearInterval(drip)
    expect(answer).toMatchObject({ status: 408, code: "request_timeout" })
  })

  test("continues if it is only slow", async () => {
    const upload = await openSlowUpload(service.origin, { key })
    for (let sent = 0; sent < 10; sent += 1) {
      await upload.send(new Uint8Array(16 * 1024))
      await sleep((IDLE_SECONDS * 1000) / 5)
    }
    upload.end()
    expect(await upload.answered).toMatchObject({ status: 201 })
  })
})

test("an upload interrupted by the death of workerd leaves nothing behind", async () => {
  const objects = countObjects(service.stateDir)
  const upload = await openSlowUpload(service.origin, { key })
  await upload.send(new Uint8Array(PART_BYTES + MIB))
  await vi.waitUntil(() => countUploads(service.stateDir) > 0, { timeout: 60_000 })
  process.kill(findWorkerd(service.pid) ?? 0, "SIGKILL")
  expect((await upload.answered).status).not.toBe(201)
  await untilNothingIsLeft()
  expect(countObjects(service.stateDir)).toBe(objects)
})

test("a stalled JSON body is closed with 408", async () => {
  const headers = { "x-api-key": key, "content-type": "application/json" }
  const body = openSlowBody(`${service.origin}/v1/commands`, headers)
  await body.send('{"input_files": {}, ')
  expect(await body.answered).toMatchObject({ status: 408, code: "request_timeout" })
})

test.each(["/sign-in", "/api/auth/sign-in/email"])(
  "a stalled body for %s is closed with 408",
  async (path) => {
    const headers = { origin: service.origin, "content-type": "application/x-www-form-urlencoded" }
    const body = openSlowBody(service.origin + path, headers)
    await body.send("email=a")
    expect(await body.answered).toMatchObject({ status: 408 })
  },
)

describe("a body without a length", () => {
  test("is closed with 413 when its file is larger than the plan allows", async () => {
    const upload = await openSlowUpload(service.origin, { key })
    for (let sent = 0; sent <= FILE_BYTES_MAX; sent += MIB) await upload.send(new Uint8Array(MIB))
    expect(await upload.answered).toMatchObject({ status: 413, code: "payload_too_large" })
    await untilNothingIsLeft()
  })

  test("is closed with 413 when its other fields exceed their limit", async () => {
    const type = "multipart/form-data; boundary=never"
    const headers = { "x-api-key": key, "content-type": type }
    const body = openSlowBody(`${service.origin}/v1/files`, headers)
    for (let sent = 0; sent <= FILE_BYTES_MAX + MIB; sent += MIB) {
      await body.send(new Uint8Array(MIB).fill(120))
    }
    expect(await body.answered).toMatchObject({ status: 413, code: "payload_too_large" })
  })
})

describe("simultaneous uploads", () => {
  test("are limited to 16 for a key with bounded memory, while those of another key continue", async () => {
    await using patient = await startService({ UPLOAD_IDLE_SECONDS: String(LONG_IDLE_SECONDS) })
    const { origin } = patient
    const keys = [await patient.makeKey("slow"), await patient.makeKey("other")] as const
    const before = workerdBytes(patient)
    const uploads = []
    for (const of of keys) {
      for (let count = 0; count < UPLOADS_MAX; count += 1) {
        uploads.push(await openSlowUpload(origin, { key: of }))
      }
    }
    await Promise.all(uploads.map((upload) => upload.send(new Uint8Array(PART_BYTES - 100))))
    const refused = await openSlowUpload(origin, { key: keys[0] })
    const answer = await refused.answered
    expect(answer).toMatchObject({ status: 429, code: "too_many_uploads" })
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0)
    const grown = workerdBytes(patient) - before
    console.log(`32 uploads at a stop: workerd has ${(grown / MIB).toFixed(0)} MiB more`)
    expect(grown).toBeLessThan(32 * 2 * PART_BYTES)
    const [, ...others] = uploads
    uploads[0]?.end()
    expect(await uploads[0]?.answered).toMatchObject({ status: 201 })
    const again = await openSlowUpload(origin, { key: keys[0] })
    again.end()
    expect(await again.answered).toMatchObject({ status: 422 })
    const answers = await Promise.all(others.map((upload) => upload.answered))
    expect(answers.map(({ status }) => status)).toEqual(others.map(() => 408))
    await untilNothingIsLeft(patient)
    expect(countObjects(patient.stateDir)).toBe(1)
  })

  test("do not count after their callers hang up", async () => {
    for (let round = 0; round < 3; round += 1) {
      const uploads = await Promise.all(
        Array.from({ length: UPLOADS_MAX }, () => openSlowUpload(service.origin, { key })),
      )
      await Promise.all(uploads.map((upload) => upload.send(new Uint8Array(MIB))))
      for (const upload of uploads) upload.hangUp()
      await sleep(1000)
    }
    const upload = await openSlowUpload(service.origin, { key })
    await upload.send("some bytes")
    upload.end()
    expect(await upload.answered).toMatchObject({ status: 201 })
    await untilNothingIsLeft()
  })
})

test("only the accepted files remain stored", async () => {
  expect(await filesOf(key)).toHaveLength(2)
  expect(countObjects(service.stateDir)).toBe(2)
})
