import { readFileSync, readlinkSync } from "node:fs"
import { link, mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { createWorkspaceMeter } from "../../../container/sandbox/workspace-meter.ts"
import { killAll } from "../../faults/processes.ts"
import { listSupportedTiers } from "../../support/runner/supported-tiers.ts"

const UNKNOWN = { bytes: Infinity, files: Infinity }
const hasProgram = (await listSupportedTiers()).length > 0

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-meter-"))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

describe.for([
  ["the program", "landlock", "measure"],
  ["names, without a sandbox", "none", "measure"],
  ["either, without further changes", "landlock", "measureAtRest"],
] as const)("a meter by %s", ([, tier, look]) => {
  beforeEach(({ skip }) => skip(tier !== "none" && !hasProgram, "this machine has no sandbox"))

  async function measure(filesMax = 100, where = folder) {
    const meter = createWorkspaceMeter(tier, where, filesMax)
    const usage = await meter[look]()
    meter.close()
    return usage
  }

  test("counts all files, and follows changes", async () => {
    const meter = createWorkspaceMeter(tier, folder, 100)
    expect(await meter[look]()).toEqual({ bytes: 0, files: 0 })
    await writeFile(join(folder, "file"), Buffer.alloc(5000))
    await writeFile(join(folder, "..."), "")
    const { bytes, files } = await meter[look]()
    expect(files).toBe(2)
    expect(bytes).toBeGreaterThanOrEqual(5000)
    meter.close()
  })

  test("counts a file whose name is not UTF-8", async () => {
    const name = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])])
    await writeFile(name, Buffer.alloc(100_000))
    expect((await measure()).bytes).toBeGreaterThanOrEqual(100_000)
  })

  test("counts a sparse file with its full size", async () => {
    await writeFile(join(folder, "sparse"), "")
    await truncate(join(folder, "sparse"), 10 ** 10)
    expect(await measure()).toEqual({ bytes: 10 ** 10, files: 1 })
  })

  test("counts a file with several hard links once", async () => {
    await writeFile(join(folder, "file"), Buffer.alloc(100_000))
    await link(join(folder, "file"), join(folder, "link"))
    const { bytes, files } = await measure()
    expect(files).toBe(2)
    expect(bytes).toBeLessThan(200_000)
    expect(bytes).toBeGreaterThanOrEqual(100_000)
  })

  test("stops counting above the limit of files", async () => {
    for (let index = 0; index < 50; index += 1) await writeFile(join(folder, `${index}`), "")
    expect((await measure(50)).files).toBe(50)
    expect((await measure(20)).files).toBeGreaterThan(20)
  })

  test("reports a workspace with a folder as beyond any limit", async () => {
    await mkdir(join(folder, "folder"))
    expect(await measure()).toEqual(UNKNOWN)
  })

  test("reports a workspace that it cannot enter as beyond any limit", async () => {
    expect(await measure(100, join(folder, "missing"))).toEqual(UNKNOWN)
  })
})

test("starts no program for few files at rest", async ({ skip }) => {
  skip(!hasProgram, "this machine has no sandbox")
  const meter = createWorkspaceMeter("landlock", folder, 100)
  await writeFile(join(folder, "file"), "")
  expect((await meter.measureAtRest()).files).toBe(1)
  expect(findPrograms()).toEqual([])
  for (let index = 0; index < 60; index += 1) await writeFile(join(folder, `${index}`), "")
  expect((await meter.measureAtRest()).files).toBe(61)
  expect(findPrograms()).toHaveLength(1)
  meter.close()
})

test("restarts its program if that is killed", async ({ skip }) => {
  skip(!hasProgram, "this machine has no sandbox")
  const meter = createWorkspaceMeter("landlock", folder, 100)
  expect(await meter.measure()).toEqual({ bytes: 0, files: 0 })
  await writeFile(join(folder, "file"), Buffer.alloc(5000))
  expect(findPrograms()).toHaveLength(1)
  killAll(findPrograms())
  expect((await meter.measure()).files).toBe(1)
  expect((await meter.measure()).files).toBe(1)
  meter.close()
})

test("leaves no program behind when used after its close", async ({ skip }) => {
  skip(!hasProgram, "this machine has no sandbox")
  const meter = createWorkspaceMeter("landlock", folder, 100)
  await meter.measure()
  meter.close()
  expect(await meter.measure()).toEqual(UNKNOWN)
  await expect.poll(findPrograms).toEqual([])
})

/** Returns the programs that measure the test's folder. */
function findPrograms(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim()
  return children
    .split(" ")
    .filter((pid) => pid !== "" && readlinkSync(`/proc/${pid}/cwd`) === folder)
    .map(Number)
}
