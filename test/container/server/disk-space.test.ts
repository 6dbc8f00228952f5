import { statfsSync } from "node:fs"
import { writeFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { DEFAULT_TOOL_LIMITS } from "../../../container/settings.ts"
import type { TaskInput, TaskOrder } from "../../../src/contract/task.ts"
import { mountSmallDisk } from "../../support/runner/small-disk.ts"
import type { SmallDisk } from "../../support/runner/small-disk.ts"
import { ENDLESS, startHarness, waitFor } from "../harness.ts"
import type { Harness } from "../harness.ts"

const MIB = 1024 ** 2
const DISK_BYTES = 128 * MIB
const RESERVE_BYTES = 32 * MIB
const DISK_WAIT_MS = 500

/** Arguments that write 3.5 MB for each picture, in small files or in one. */
const PICTURES = "-f lavfi -i color=s=1280x720"
const SEGMENTS = `${PICTURES} -f segment -segment_time 0.1 -c:v rawvideo -f rawvideo out_1`
const ONE_FILE = `${PICTURES} -f rawvideo out_1`

describe("a runner on a small disk", () => {
  let disk: SmallDisk | null = null
  let harness: Harness

  beforeEach(async ({ skip }) => {
    disk = mountSmallDisk(DISK_BYTES)
    if (!disk) return skip("this process may not mount")
    const limits = { ...DEFAULT_TOOL_LIMITS, diskReserveBytes: RESERVE_BYTES }
    harness = await startHarness({ workDir: disk.path, limits, diskWaitMs: DISK_WAIT_MS })
  })

  afterEach(async () => {
    if (disk) await harness.close().catch(() => undefined)
    disk?.[Symbol.dispose]()
  })

  /** Returns an order with inputs of these sizes, of which only the first has bytes. */
  function withInputs(sizes: number[], words = ENDLESS): TaskOrder {
    harness.io.inputs.set("in_1", new Uint8Array(sizes[0] ?? 0))
    const inputs: TaskInput[] = sizes.map((size_bytes, index) => {
      return { key: `in_${index + 1}`, name: `in_${index + 1}`, size_bytes }
    })
    return harness.order([words], { inputs })
  }

  function orderOf(words: string): TaskOrder {
    return harness.order([words.split(" ")])
  }

  test("fails a task whose inputs can never fit the disk", async () => {
    expect(await harness.finish(withInputs([DISK_BYTES]))).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: { code: "inputs_too_large", message: expect.stringContaining("128 MiB") },
    })
  })

  test("refuses a task that does not fit beside another, and accepts it afterwards", async () => {
    const first = withInputs([40 * MIB])
    expect((await harness.call("POST", "/tasks", first)).status).toBe(202)
    const second = withInputs([50 * MIB])
    const refused = await harness.call("POST", "/tasks", second)
    expect(refused.status).toBe(507)
    expect(await refused.json()).toEqual({ error: "no room" })
    await harness.call("DELETE", `/tasks/${first.task_id}?fence=1`)
    await waitFor(async () => (await harness.call("POST", "/tasks", second)).status === 202)
  })

  test("refuses a task while other files fill the disk down to its reserve", async () => {
    const filler = join(harness.settings.workDir, "filler")
    await writeFile(filler, new Uint8Array(DISK_BYTES - RESERVE_BYTES))
    const order = orderOf("-f lavfi -i color=d=0.2:s=64x36 out_1")
    expect((await harness.call("POST", "/tasks", order)).status).toBe(507)
    await rm(filler)
    expect(await harness.finish(order)).toMatchObject({ kind: "finished" })
  })

  async function postFor(ms: number, order: TaskOrder): Promise<number[]> {
    const statuses: number[] = []
    for (const begunAt = performance.now(); performance.now() - begunAt < ms; await sleep(50)) {
      statuses.push((await harness.call("POST", "/tasks", order)).status)
    }
    return statuses
  }

  async function failureOnceAccepted(order: TaskOrder) {
    expect(await postFor(0.8 * DISK_WAIT_MS, order)).not.toContain(202)
    await waitFor(async () => (await harness.call("POST", "/tasks", order)).status === 202)
    return await waitFor(() => harness.io.reports.find(({ kind }) => kind === "failed"))
  }

  test("fails inputs that the end of no other task would make room for, with the numbers", async () => {
    await writeFile(join(harness.settings.workDir, "filler"), new Uint8Array(56 * MIB))
    const small = orderOf(ENDLESS.join(" "))
    expect((await harness.call("POST", "/tasks", small)).status).toBe(202)
    expect(await failureOnceAccepted(withInputs([60 * MIB]))).toMatchObject({
      blame: "caller",
      failure: {
        code: "inputs_too_large",
        message: expect.stringMatching(
          /have 60 MiB together, and .* has room for 2[34](\.\d)? MiB/,
        ),
      },
    })
  })

  test("fails a task without inputs with disk_full, and names the lacking bytes", async () => {
    const filler = join(harness.settings.workDir, "filler")
    await writeFile(filler, new Uint8Array(DISK_BYTES - RESERVE_BYTES - 10 * MIB))
    const outputs = [{ key: "out_1", name: "out.raw" }]
    const order = orderOf("-f lavfi -i color=d=0.2:s=64x36 -f rawvideo out_1")
    const storing = { ...order, work: { ...order.work, outputs } }
    expect(await failureOnceAccepted(storing)).toMatchObject({
      blame: "caller",
      failure: { code: "disk_full", message: expect.stringContaining("lacks 6 MiB") },
    })
  })

  test("keeps a task waiting while the end of another would make room", async () => {
    const first = withInputs([40 * MIB])
    expect((await harness.call("POST", "/tasks", first)).status).toBe(202)
    // Both tasks read the same bytes; the first task must download its input before they change.
    await waitFor(() => harness.io.reports.some(({ kind }) => kind === "started"))
    const second = withInputs([60 * MIB])
    expect(new Set(await postFor(3 * DISK_WAIT_MS, second))).toEqual(new Set([507]))
    await harness.call("DELETE", `/tasks/${first.task_id}?fence=1`)
    await waitFor(async () => (await harness.call("POST", "/tasks", second)).status === 202)
    await waitFor(() => harness.io.reports.filter(({ kind }) => kind === "started").length === 2)
  })

  async function finishRaw(words: string) {
    const order = orderOf(words)
    const outputs = [{ key: "out_1", name: "out.raw" }]
    return await harness.finish({ ...order, work: { ...order.work, outputs } })
  }

  test("kills a tool whose files together exceed its share", async () => {
    const report = await finishRaw(SEGMENTS)
    expect(report).toMatchObject({ kind: "failed", blame: "ours", failure: { code: "disk_full" } })
  })

  test("keeps a single file of a tool from filling the disk down to its reserve", async () => {
    let leastBytes = DISK_BYTES
    const watch = setInterval(() => {
      const { bavail, bsize } = statfsSync(harness.settings.workDir)
      leastBytes = Math.min(leastBytes, bavail * bsize)
    }, 2)
    const report = await finishRaw(ONE_FILE)
    clearInterval(watch)
    expect(report).toMatchObject({ kind: "failed", blame: "ours", failure: { code: "disk_full" } })
    expect(leastBytes).toBeLessThan(DISK_BYTES)
    expect(leastBytes).toBeGreaterThanOrEqual(RESERVE_BYTES)
  })

  test("kills a tool when other files fill the disk down to its reserve", async () => {
    const order = orderOf(ENDLESS.join(" "))
    expect((await harness.call("POST", "/tasks", order)).status).toBe(202)
    await waitFor(() => harness.io.reports.some(({ kind }) => kind === "started"))
    await writeFile(
      join(harness.settings.workDir, "filler"),
      new Uint8Array(DISK_BYTES - RESERVE_BYTES),
    )
    const report = await waitFor(() => harness.io.reports.find(({ kind }) => kind === "failed"))
    expect(report).toMatchObject({ blame: "ours", failure: { code: "disk_full" } })
  })

  test("fails a task with disk_full when its outputs are refused", async () => {
    harness.io.intercept = (call) =>
      call.startsWith("PUT /outputs/") ? new Response(null, { status: 507 }) : null
    const report = await harness.finish(orderOf("-f lavfi -i color=d=0.2:s=64x36 out_1"))
    expect(report).toMatchObject({ blame: "ours", failure: { code: "disk_full" } })
  })
})
