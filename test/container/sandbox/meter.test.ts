import { readFileSync, readlinkSync } from "node:fs"
import { link, mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { openMeter } from "../../../container/sandbox/meter.ts"
import { killAll } from "../../faults/processes.ts"
import { supportedTiers } from "../../support/supported-tiers.ts"

const UNKNOWN = { bytes: Infinity, files: Infinity }
const hasProgram = (await supportedTiers()).length > 0

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-meter-"))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

describe.for([
  ["the program", "landlock", "measure"],
  ["names, where there is no sandbox", "none", "measure"],
  ["either, where nothing changes any more", "landlock", "measureAtRest"],
] as const)("a meter by %s", ([, tier, look]) => {
  beforeEach(({ skip }) => skip(tier !== "none" && !hasProgram, "this machine has no sandbox"))

  async function measure(filesMax = 100, where = folder) {
    const meter = openMeter(tier, where, filesMax)
    const usage = await meter[look]()
    meter.close()
    return usage
  }

  test("counts all files, and follows what changes", async () => {
    const meter = openMeter(tier, folder, 100)
    expect(await meter[look]()).toEqual({ bytes: 0, files: 0 })
    await writeFile(join(folder, "file"), Buffer.alloc(5000))
    await writeFile(join(folder, "..."), "")
    const { bytes, files } = await meter[look]()
    expect(files).toBe(2)
    expect(bytes).toBeGreaterThanOrEqual(5000)
    meter.close()
  })

  test("counts a file whose name is no text", async () => {
    const name = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])])
    await writeFile(name, Buffer.alloc(100_000))
    expect((await measure()).bytes).toBeGreaterThanOrEqual(100_000)
  })

  test("counts a sparse file with its full size", async () => {
    await writeFile(join(folder, "sparse"), "")
    await truncate(join(folder, "sparse"), 10 ** 10)
    expect(await measure()).toEqual({ bytes: 10 ** 10, files: 1 })
  })

  test("counts a file with several names once", async () => {
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

  test("holds a folder for more than any limit", async () => {
    await mkdir(join(folder, "folder"))
    expect(await measure()).toEqual(UNKNOWN)
  })

  test("holds a workspace that it cannot enter for more than any limit", async () => {
    expect(await measure(100, join(folder, "missing"))).toEqual(UNKNOWN)
  })
})

test("starts no program for few files at rest", async ({ skip }) => {
  skip(!hasProgram, "this machine has no sandbox")
  const meter = openMeter("landlock", folder, 100)
  await writeFile(join(folder, "file"), "")
  expect((await meter.measureAtRest()).files).toBe(1)
  expect(findPrograms()).toEqual([])
  for (let index = 0; index < 60; index += 1) await writeFile(join(folder, `${index}`), "")
  expect((await meter.measureAtRest()).files).toBe(61)
  expect(findPrograms()).toHaveLength(1)
  meter.close()
})

test("goes on where its program is killed", async ({ skip }) => {
  skip(!hasProgram, "this machine has no sandbox")
  const meter = openMeter("landlock", folder, 100)
  expect(await meter.measure()).toEqual({ bytes: 0, files: 0 })
  await writeFile(join(folder, "file"), Buffer.alloc(5000))
  expect(findPrograms()).toHaveLength(1)
  killAll(findPrograms())
  expect((await meter.measure()).files).toBe(1)
  expect((await meter.measure()).files).toBe(1)
  meter.close()
})

test("leaves no program behind where it is asked after it was closed", async ({ skip }) => {
  skip(!hasProgram, "this machine has no sandbox")
  const meter = openMeter("landlock", folder, 100)
  await meter.measure()
  meter.close()
  expect(await meter.measure()).toEqual(UNKNOWN)
  await expect.poll(findPrograms).toEqual([])
})

/** Programs that measure the folder of the test. */
function findPrograms(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim()
  return children
    .split(" ")
    .filter((pid) => pid !== "" && readlinkSync(`/proc/${pid}/cwd`) === folder)
    .map(Number)
}
