import { readdirSync, rmSync, statSync, statfsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { startServiceProcess } from "../../../scripts/cli/service-process.ts"
import type { ServiceProcess } from "../../../scripts/cli/service-process.ts"
import { openAccount } from "../../corpus/account.ts"
import { mountSmallDisk } from "../../support/runner/small-disk.ts"
import { countObjects, countUploads } from "../operate/state-rows.ts"
import { createdCommand, create, makeWave, openSender, SMALL_COMMAND } from "./disk-users.ts"
import { openSlowUpload } from "../media/slow-upload.ts"

const MIB = 1024 ** 2
const KEYS = 64

let atEnd: AsyncDisposableStack

beforeEach(() => {
  atEnd = new AsyncDisposableStack()
})

afterEach(() => atEnd.disposeAsync())

async function start(settings: Record<string, string>, stateDir?: string): Promise<ServiceProcess> {
  const options = stateDir === undefined ? {} : { stateDir }
  return atEnd.use(await startServiceProcess({ settings, ...options, echoesErrors: true }))
}

/** A command that reads one file under 64 keys. */
function readingAll(id: string) {
  const keys = Array.from({ length: KEYS }, (_, index) => `in_${index + 1}`)
  return {
    ffmpeg_command: `ffmpeg ${keys.map((key) => `-i {{${key}}}`).join(" ")} -map 63:a -t 1 {{out_1}}`,
    input_files: Object.fromEntries(keys.map((key) => [key, `svc_id://${id}`])),
    output_files: { out_1: "a.wav" },
  }
}

/** Disk space of a folder's files, a file with several names counted once. */
function bytesBelow(folder: string): number {
  const blocks = new Map<number, number>()
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false })
    if (stats?.isFile()) blocks.set(stats.ino, stats.blocks)
  }
  return blocks.values().reduce((sum, each) => sum + each * 512, 0)
}

describe("a file under 64 keys", () => {
  test("occupies at most twice its bytes in the workspace of a job", async () => {
    const service = await start({})
    const account = await openSender(service, "many-keys")
    const wave = makeWave(30 * MIB)
    const { id } = await account.upload("a.wav", wave)
    let mostBytes = 0
    const watch = setInterval(() => {
      mostBytes = Math.max(mostBytes, bytesBelow(join(service.stateDir, "work")))
    }, 20)
    const { record } = await account.run(readingAll(id))
    clearInterval(watch)
    console.log(`one file of 30 MiB under 64 keys: ${(mostBytes / MIB).toFixed(1)} MiB`)
    expect(record).toMatchObject({ status: "success" })
    expect(mostBytes).toBeGreaterThan(0)
    expect(mostBytes).toBeLessThanOrEqual(2 * wave.byteLength)
  })

  test("counts once towards the plan's input bytes, and two files count twice", async () => {
    const service = await start({ TRIAL_INPUT_BYTES_MAX: String(3 * MIB) })
    const account = await openSender(service, "planned")
    const [one, other] = await Promise.all([
      account.upload("a.wav", makeWave(2 * MIB)),
      account.upload("b.wav", makeWave(2 * MIB)),
    ])
    expect(await account.run(readingAll(one.id))).toMatchObject({ record: { status: "success" } })
    const body = readingAll(one.id)
    body.input_files["in_2"] = `svc_id://${other.id}`
    const refused = await create(account, body)
    const fault = { field: "input_files", code: "inputs_too_large" }
    expect(refused.status).toBe(422)
    expect(JSON.parse(refused.text)).toMatchObject({ details: [fault] })
    expect(refused.text).toContain(`${4 * MIB} bytes`)
    expect(refused.text).toContain(String(3 * MIB))
    const validated = await create(account, body, "/commands/validate")
    expect(JSON.parse(validated.text)).toMatchObject({ valid: false, errors: [fault] })
  })
})

test("below the reserve uploads are refused before their bytes, and jobs wait", async () => {
  const service = await start({ DISK_RESERVE_BYTES: String(2 ** 50) })
  const key = await service.makeKey("poor")
  const account = openAccount(service.origin, key)
  for (const sizeBytes of [MIB, undefined]) {
    const upload = await openSlowUpload(service.origin, { key, ...(sizeBytes && { sizeBytes }) })
    expect(await upload.answered).toMatchObject({ status: 507, code: "storage_full" })
  }
  expect(countUploads(service.stateDir) + countObjects(service.stateDir)).toBe(0)
  expect((await create(account, SMALL_COMMAND)).status).toBe(202)
})

describe("on a small disk", () => {
  const RESERVE_BYTES = 48 * MIB
  const settings = {
    DISK_RESERVE_BYTES: String(RESERVE_BYTES),
    RUNNER_CAPACITY: "2",
    SWEEP_SECONDS: "1",
  }

  test("lets another account get 201, 202 or 507 while one account fills it, and recovers", async ({
    skip,
  }) => {
    const disk = mountSmallDisk(256 * MIB)
    if (!disk) return skip("this process may not mount")
    atEnd.use(disk)
    const service = await start(settings, join(disk.path, "state"))
    const [filler, other] = [
      await openSender(service, "filler"),
      await openSender(service, "other"),
    ]
    const ids: string[] = []
    const greedy = create(filler, {
      ffmpeg_command: "ffmpeg -f lavfi -i color=s=1920x1080 -t 3600 -f rawvideo {{out_1}}",
      input_files: {},
      output_files: { out_1: "a.raw" },
    })
    const statuses = new Set<number>()
    const refusals = new Set<number>()
    let isFull = false
    async function neighbour(): Promise<void> {
      for (let rounds = 0; !isFull || rounds < 10; rounds += 1) {
        statuses.add((await create(other, SMALL_COMMAND)).status)
        statuses.add((await other.send(1000)).status)
        await sleep(200)
      }
    }
    const beside = neighbour()
    for (const bytes of [12 * MIB, MIB]) {
      for (;;) {
        const { status, id } = await filler.send(bytes)
        refusals.add(status)
        if (status !== 201) break
        if (id !== null) ids.push(id)
      }
    }
    isFull = true
    expect(refusals).toEqual(new Set([201, 507]))
    await Promise.all([beside, greedy])
    expect([...statuses].filter((status) => ![201, 202, 507].includes(status))).toEqual([])
    expect(statuses).toContain(202)
    const { bavail, bsize } = statfsSync(disk.path)
    console.log(`filled: ${((bavail * bsize) / MIB).toFixed(0)} of 256 MiB are free`)
    const waiting = await create(other, SMALL_COMMAND)
    expect(waiting.status).toBe(202)
    await Promise.all(ids.map((id) => filler.call(`/files/${id}`, { method: "DELETE" })))
    await greedy.then(async ({ text }) => {
      const { command_id: id } = createdCommand.parse(JSON.parse(text))
      return await filler.call(`/commands/${id}`, { method: "DELETE" })
    })
    const { command_id: id } = createdCommand.parse(JSON.parse(waiting.text))
    let status = "pending"
    while (status !== "success" && status !== "failed") {
      await sleep(200)
      ;({ status } = await other.find(id))
    }
    expect(status).toBe("success")
    while ((await other.send(12 * MIB)).status !== 201) await sleep(500)
  })

  test("never answers a create or an upload with 500 when its last byte is taken", async ({
    skip,
  }) => {
    const disk = mountSmallDisk(192 * MIB)
    if (!disk) return skip("this process may not mount")
    atEnd.use(disk)
    const service = await start(settings, join(disk.path, "state"))
    const account = await openSender(service, "full")
    expect((await create(account, SMALL_COMMAND)).status).toBe(202)
    const ballast = join(disk.path, "ballast")
    try {
      writeFileSync(ballast, Buffer.alloc(192 * MIB))
    } catch {
      // It is full, which is the point.
    }
    await sleep(1500)
    for (let round = 0; round < 3; round += 1) {
      // 503: the object that counts the requests of the key cannot write either.
      expect([202, 503, 507]).toContain((await create(account, SMALL_COMMAND)).status)
      expect([503, 507]).toContain((await account.send(MIB)).status)
    }
    rmSync(ballast)
    while ((await account.send(MIB)).status !== 201) await sleep(500)
    expect(await account.run(SMALL_COMMAND)).toMatchObject({ record: { status: "success" } })
  })
})
