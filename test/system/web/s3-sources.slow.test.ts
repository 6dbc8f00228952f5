import { readFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { makeMediaFile } from "../../../scripts/cli/client/media.ts"
import { rcloneStep } from "../../../scripts/setup/test-tools.ts"
import { ensureSetupSteps } from "../../../scripts/setup/step.ts"
import { makeWavFile } from "../../support/site/sound.ts"
import { hash, openStoreStage } from "./store-stage.ts"
import type { StoreStage } from "./store-stage.ts"

const INSTALL_MS_MAX = 180_000
const MIB = 1024 ** 2

const problem = z.looseObject({
  details: z.array(
    z.looseObject({ field: z.string(), code: z.string().optional(), message: z.string() }),
  ),
})

/** Keys as tools of S3 take them, and the names of their files. */
const ODD_KEYS = [
  ["a film + more.wav", "a film + more.wav"],
  ["Spiel & Spaß/Übung 日本.wav", "Übung 日本.wav"],
  [" spaced .wav ", "spaced .wav"],
  ["what?.wav", "what?.wav"],
  ["part #1.wav", "part #1.wav"],
  ["100%.wav", "100%.wav"],
  ["50%25.wav", "50%25.wav"],
  ["it's (a) [b] {c}!*~=@:;,$^|.wav", "it's (a) [b] {c}!*~=@:;,$^|.wav"],
]

const coded = makeWavFile(3000, 90)

let stage: StoreStage

beforeAll(async () => {
  await ensureSetupSteps([rcloneStep])
  stage = await openStoreStage(coded)
}, INSTALL_MS_MAX)

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
})

it("imports an object unchanged", async () => {
  const bytes = makeWavFile(200_000, 1)
  await stage.store.put("raw/clip.wav", bytes)
  const file = await stage.bringIn("s3://films/raw/clip.wav")
  expect(file).toMatchObject({
    status: "success",
    name: "clip.wav",
    source_url: "s3://films/raw/clip.wav",
    size_bytes: bytes.length,
  })
  expect(await stage.digestOf(file.download_url)).toBe(hash(bytes))
})

it("accepts an object as the input of a job", async () => {
  const path = await makeMediaFile(
    stage.folder,
    "tone.wav",
    "-f lavfi -i sine=frequency=300:duration=4",
  )
  await stage.store.put("tone.wav", new Uint8Array(await readFile(path)))
  const answer = await stage.postJson("/normalize", { file_url: "s3://films/tone.wav" })
  const body = z.looseObject({ normalization_id: z.uuid() }).parse(await answer.json())
  const done = await stage.readEnd(
    `/normalize/${body.normalization_id}`,
    z.looseObject({ status: z.string() }),
  )
  expect(done).toMatchObject({ status: "success" })
})

describe("a key", () => {
  it.each(ODD_KEYS)("is taken literally: %s", async (key, name) => {
    const bytes = makeWavFile(2000, 2)
    await stage.store.put(key, bytes)
    const file = await stage.bringIn(`s3://films/${key}`)
    expect(file).toMatchObject({ status: "success", name, source_url: `s3://films/${key}` })
    expect(await stage.digestOf(file.download_url)).toBe(hash(bytes))
  })

  it("may be percent-encoded", async () => {
    const bytes = makeWavFile(2000, 3)
    await stage.store.put("mein/café + film#2.wav", bytes)
    const file = await stage.bringIn("s3://films/mein/caf%C3%A9%20+%20film%232.wav")
    expect(file).toMatchObject({ status: "success", name: "café + film#2.wav" })
    expect(await stage.digestOf(file.download_url)).toBe(hash(bytes))
  })
})

describe("a store", () => {
  it.each([
    ["s3://films/none.mp4", "not_found", /no such object in the bucket/],
    // This store signs such a key as it stands, and has none.
    ["s3://films/a//b.mp4", "not_found", /It answered 400 InvalidArgument/],
    ["s3://absent/none.mp4", "not_found", /no such (?:object|bucket)/],
    ["s3://locked/raw/clip.wav", "server_error", /does not accept the operator's credentials/],
    ["s3://nowhere/clip.mp4", "connection_failed", /store of the bucket cannot be reached/],
  ])("is named if it lacks %s", async (url, code, message) => {
    const file = await stage.bringIn(url)
    expect(file).toMatchObject({ status: "failed", error_code: code })
    expect(file.error).toMatch(message)
    const said = JSON.stringify([file, stage.service.tail()])
    expect(said).not.toMatch(/nobody-sees|TESTACCESSKEY|Signature=|<Error>/)
    expect(said).not.toContain(new URL(stage.wire.endpoint).host)
  })

  it("gets a range request for the rest after an interruption", async () => {
    const bytes = makeWavFile(30 * MIB, 4)
    await stage.store.put("large.wav", bytes)
    stage.wire.requests.length = 0
    const held = stage.wire.holdAfter(20 * MIB)
    const id = await stage.begin("s3://films/large.wav")
    await held
    await stage.store.kill()
    stage.wire.cut()
    await stage.store.start()
    const file = await stage.readFileEnd(id)
    expect(file).toMatchObject({ status: "success", size_bytes: bytes.length })
    expect(await stage.digestOf(file.download_url)).toBe(hash(bytes))
    const ranges = stage.wire.requests.flatMap(
      (head) => /^range: bytes=(\d+)-/im.exec(head)?.[1] ?? [],
    )
    expect(ranges.length).toBeGreaterThan(0)
    expect(Math.min(...ranges.map(Number))).toBeGreaterThan(10 * MIB)
  })

  it("delivers only the new object if the object is replaced half-way", async () => {
    await stage.store.put("changing.wav", makeWavFile(24 * MIB, 5))
    const held = stage.wire.holdAfter(15 * MIB)
    const id = await stage.begin("s3://films/changing.wav")
    await held
    const bytes = makeWavFile(25 * MIB, 6)
    await stage.store.put("changing.wav", bytes)
    stage.wire.cut()
    const file = await stage.readFileEnd(id)
    expect(file).toMatchObject({ status: "success", size_bytes: bytes.length })
    expect(await stage.digestOf(file.download_url)).toBe(hash(bytes))
  })
})

it("gets no further request after the cancellation of the job", async () => {
  await stage.store.put("canceled.wav", makeWavFile(20 * MIB, 91))
  const held = stage.wire.holdAfter(10 * MIB)
  const id = await stage.begin("s3://films/canceled.wav")
  await held
  expect(stage.wire.connections()).toBe(1)
  expect((await stage.call(`/jobs/${id}/cancel`, { method: "POST" })).status).toBe(200)
  await expect.poll(() => stage.wire.connections(), { timeout: 20_000 }).toBe(0)
  expect(await stage.readFileEnd(id)).toMatchObject({ status: "failed", error_code: "canceled" })
  stage.wire.cut()
})

it("gets another request by a retried job, for the same URL", async () => {
  const url = "s3://films/late?.wav"
  const missed = await stage.bringIn(url)
  expect(missed).toMatchObject({ status: "failed", error_code: "not_found" })
  const bytes = makeWavFile(3000, 92)
  await stage.store.put("late?.wav", bytes)
  const file = await stage.retry(missed.id)
  expect(file).toMatchObject({ status: "success", name: "late?.wav", source_url: url })
  expect(await stage.digestOf(file.download_url)).toBe(hash(bytes))
})

describe("a redirect of a store", () => {
  it.each([
    ["has an object coded", "s3://odd/coded.wav"],
    ["is busy, and names a type that the object is not of", "s3://odd/busy.wav"],
  ])("%s is read all the same", async (_, url) => {
    const file = await stage.bringIn(url)
    expect(file).toMatchObject({ status: "success", size_bytes: coded.length })
    expect(await stage.digestOf(file.download_url)).toBe(hash(coded))
  })

  it("to another host is not followed", async () => {
    const file = await stage.bringIn("s3://odd/moved.wav")
    expect(file).toMatchObject({ status: "failed", error_code: "server_error" })
    expect(file.error).toMatch(/the bucket is elsewhere.* It answered 307\.$/)
  })
})

describe("a request", () => {
  it.each([
    ["s3://others/clip.mp4", /only from the buckets that its operator lists \(S3_SOURCES\)/],
    ["s3://films", /expected s3:\/\/bucket\/key/],
    ["s3:///clip.mp4", /expected s3:\/\/bucket\/key/],
    ["s3://films/folder/", /ends in \/ is a folder/],
    ["s3://films/../others/clip.mp4", /without the segments \. and \.\./],
    [`s3://films/${"x".repeat(1025)}`, /at most 1024 bytes/],
  ])("is refused if it names %s", async (url, message) => {
    const answer = await stage.postJson("/files", { file_url: url })
    expect(answer.status).toBe(422)
    const { details } = problem.parse(await answer.json())
    expect(details).toMatchObject([{ field: "file_url", code: "url_not_allowed" }])
    expect(details[0]?.message).toMatch(message)
    expect(details[0]?.message).not.toContain("locked")
  })

  it("cannot reach a store's host in another way", async () => {
    const body = { file_url: `${stage.store.endpoint}/films/raw/clip.wav` }
    expect((await stage.postJson("/files", body)).status).toBe(422)
    const hooked = { file_url: "s3://films/raw/clip.wav", webhook: stage.store.endpoint }
    expect((await stage.postJson("/files", hooked)).status).toBe(422)
    const fetched = { url: "s3://films/raw/clip.wav" }
    expect((await stage.postJson("/fetch", fetched)).status).toBe(422)
  })

  it("in the Job form gets a 400", async () => {
    const outputs = [{ codec: "h264", resolution: "480p" }]
    const answer = await stage.postJson("/transcode", { source: "s3://others/a.mp4", outputs })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain("S3_SOURCES")
  })
})
