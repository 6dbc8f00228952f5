import { rmSync, statfsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, expect, test } from "vitest"
import { z } from "zod"
import { startServiceProcess } from "../../scripts/local/service-process.ts"
import type { ServiceProcess } from "../../scripts/local/service-process.ts"
import type { Account } from "../corpus/account.ts"
import { mountSmallDisk } from "../support/small-disk.ts"
import { create, createdCommand, makeWave, openSender, SMALL_COMMAND } from "./disk-users.ts"

const MIB = 1024 ** 2

const settings = {
  DISK_RESERVE_BYTES: String(48 * MIB),
  // Has what can never fit end soon.
  DISK_WAIT_SECONDS_MAX: "2",
  RUNNER_CAPACITY: "2",
  SWEEP_SECONDS: "1",
}

const ending = z.looseObject({ status: z.string() })

let atEnd: AsyncDisposableStack

beforeEach(() => {
  atEnd = new AsyncDisposableStack()
})

afterEach(() => atEnd.disposeAsync())

async function start(stateDir: string): Promise<ServiceProcess> {
  return atEnd.use(await startServiceProcess({ settings, stateDir, echoesErrors: true }))
}

/** The record of a path, once its job is over. */
async function untilOver(account: Account, path: string) {
  for (;;) {
    const record = ending.parse(await (await account.call(path)).json())
    if (record.status === "success" || record.status === "failed") return record
    await sleep(200)
  }
}

/** A command that reads little of one file. */
function cutting(id: string) {
  return {
    ffmpeg_command: "ffmpeg -i {{in_1}} -t 1 {{out_1}}",
    input_files: { in_1: `svc_id://${id}` },
    output_files: { out_1: "a.wav" },
  }
}

test("inputs that the disk could never hold are refused with the numbers", async ({ skip }) => {
  const disk = mountSmallDisk(192 * MIB)
  if (!disk) return skip("this process may not mount")
  atEnd.use(disk)
  const account = await openSender(await start(join(disk.path, "state")), "large")
  const { status, id } = await account.send(130 * MIB)
  expect(status).toBe(201)
  const body = { ...SMALL_COMMAND, input_files: { in_1: `svc_id://${id}` } }
  const refused = await create(account, body)
  expect(refused.status).toBe(422)
  const fault = { field: "input_files", code: "inputs_too_large" }
  expect(JSON.parse(refused.text)).toHaveProperty(
    "details",
    expect.arrayContaining([expect.objectContaining(fault)]),
  )
  expect(refused.text).toContain(`${130 * MIB} bytes`)
  expect(refused.text).toContain(String(64 * MIB))
})

test("inputs that do not fit beside their stored files are refused, and their probe ends", async ({
  skip,
}) => {
  const disk = mountSmallDisk(300 * MIB)
  if (!disk) return skip("this process may not mount")
  atEnd.use(disk)
  const service = await start(join(disk.path, "state"))
  const account = await openSender(service, "twice")
  const { id } = await account.upload("a.wav", makeWave(150 * MIB))
  const body = cutting(id)
  const fault = { field: "input_files", code: "inputs_too_large" }
  const refused = await create(account, body)
  expect(refused.status).toBe(422)
  expect(JSON.parse(refused.text)).toMatchObject({ details: [fault] })
  expect(refused.text).toContain(`${150 * MIB} bytes`)
  expect(refused.text).toContain(String(118 * MIB))
  const validated = await create(account, body, "/commands/validate")
  expect(JSON.parse(validated.text)).toMatchObject({ valid: false, errors: [fault] })
  expect(await untilOver(account, `/files/${id}`)).toMatchObject({
    status: "failed",
    error_code: "inputs_too_large",
    error: expect.stringContaining("150 MiB"),
  })
  expect(await account.run(SMALL_COMMAND)).toMatchObject({ record: { status: "success" } })
})

test("a job that stored files leave no room for fails with the numbers, and fits without them", async ({
  skip,
}) => {
  const disk = mountSmallDisk(300 * MIB)
  if (!disk) return skip("this process may not mount")
  atEnd.use(disk)
  const service = await start(join(disk.path, "state"))
  const account = await openSender(service, "crowded")
  const { id } = await account.upload("a.wav", makeWave(100 * MIB))
  expect(await untilOver(account, `/files/${id}`)).toMatchObject({ status: "success" })
  const other = await account.send(60 * MIB)
  expect(other.status).toBe(201)
  const created = await create(account, cutting(id))
  expect(created.status).toBe(202)
  const { command_id: command } = createdCommand.parse(JSON.parse(created.text))
  expect(await untilOver(account, `/commands/${command}`)).toMatchObject({
    status: "failed",
    error_code: "inputs_too_large",
    error: expect.stringContaining("100 MiB"),
  })
  await account.call(`/files/${other.id}`, { method: "DELETE" })
  await expect
    .poll(() => statfsSync(disk.path).bavail * statfsSync(disk.path).bsize, { timeout: 20_000 })
    .toBeGreaterThan(190 * MIB)
  expect(await account.run(cutting(id))).toMatchObject({ record: { status: "success" } })
})

test("the health says that the disk has room for no uploads, until it has", async ({ skip }) => {
  const disk = mountSmallDisk(192 * MIB)
  if (!disk) return skip("this process may not mount")
  atEnd.use(disk)
  const service = await start(join(disk.path, "state"))
  const account = await openSender(service, "watched")
  async function health(): Promise<unknown> {
    return await (await fetch(`${service.origin}/v1/health`)).json()
  }
  await expect.poll(health).toEqual({ status: "ok" })
  const ballast = join(disk.path, "ballast")
  writeFileSync(ballast, Buffer.alloc(138 * MIB))
  const degraded = { status: "degraded", reasons: ["disk_full"] }
  await expect.poll(health).toEqual(degraded)
  expect((await account.send(8 * MIB)).status).toBe(507)
  expect(await health()).toEqual(degraded)
  rmSync(ballast)
  await expect.poll(health).toEqual({ status: "ok" })
})
