import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { startServiceProcess } from "../../../scripts/cli/service-process.ts"
import type { ServiceProcess } from "../../../scripts/cli/service-process.ts"
import { mountSmallDisk } from "../../support/runner/small-disk.ts"
import { create, openSender, SMALL_COMMAND } from "./disk-users.ts"

const MIB = 1024 ** 2

const settings = {
  DISK_RESERVE_BYTES: String(48 * MIB),
  // Has what can never fit end soon.
  DISK_WAIT_SECONDS_MAX: "2",
  RUNNER_CAPACITY: "2",
  SWEEP_SECONDS: "1",
}

let atEnd: AsyncDisposableStack

beforeEach(() => {
  atEnd = new AsyncDisposableStack()
})

afterEach(() => atEnd.disposeAsync())

async function start(stateDir: string): Promise<ServiceProcess> {
  return atEnd.use(await startServiceProcess({ settings, stateDir, echoesErrors: true }))
}

test("inputs beyond the size of the disk are refused with the sizes", async ({ skip }) => {
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

test("the health reports a full disk until it has room for uploads", async ({ skip }) => {
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
