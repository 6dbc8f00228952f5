import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createWorkspaceMeter } from "../../../container/sandbox/workspace-meter.ts"
import { DEFAULT_TOOL_LIMITS } from "../../../container/settings.ts"
import type { TaskInput, TaskOrder } from "../../../src/contract/task.ts"
import { ENDLESS, makeVideo, startHarness, waitFor } from "../harness.ts"
import type { Harness } from "../harness.ts"

const KEYS = 64
const WORKSPACE_BYTES = 100_000

let harness: Harness

beforeEach(async () => {
  const limits = { ...DEFAULT_TOOL_LIMITS, workspaceBytes: WORKSPACE_BYTES }
  harness = await startHarness({ limits })
})

afterEach(() => harness.close())

/** Returns an order whose 64 inputs are one file. */
async function shared(words: string[]): Promise<{ order: TaskOrder; bytes: number }> {
  const video = await makeVideo("320x180")
  const fileId = crypto.randomUUID()
  const inputs: TaskInput[] = Array.from({ length: KEYS }, (_, index) => {
    const key = `in_${index + 1}`
    return { key, name: `${key}.mp4`, file_id: fileId, size_bytes: video.byteLength }
  })
  for (const { key } of inputs) harness.io.inputs.set(key, video)
  return { order: harness.order([words], { inputs }), bytes: video.byteLength }
}

test("a file that 64 inputs name is downloaded once, and all its names are read-only", async () => {
  const { order, bytes } = await shared(ENDLESS)
  expect((await harness.call("POST", "/tasks", order)).status).toBe(202)
  await waitFor(() => harness.io.reports.some(({ kind }) => kind === "started"))
  const asked = harness.io.requests.filter(({ call }) => call.startsWith("GET /inputs/"))
  expect(asked).toHaveLength(1)
  const workspace = join(harness.settings.workDir, `${order.task_id}.1`)
  const names = (await readdir(workspace)).filter((name) => name.startsWith("in_"))
  expect(names).toHaveLength(KEYS)
  const stats = await Promise.all(names.map((name) => lstat(join(workspace, name))))
  expect(new Set(stats.map(({ ino }) => ino)).size).toBe(1)
  expect(stats.every(({ mode }) => (mode & 0o222) === 0)).toBe(true)
  const meter = createWorkspaceMeter("landlock", workspace, 1000)
  expect((await meter.measure()).bytes).toBeLessThan(2 * bytes + WORKSPACE_BYTES)
  meter.close()
})

test("all its names can be read, and it counts once towards the workspace's limit", async () => {
  const words = Array.from({ length: KEYS }, (_, index) => ["-i", `in_${index + 1}`]).flat()
  const { order } = await shared([...words, "-map", "63:a", "-c", "copy", "out_1"])
  expect(await harness.finish(order)).toMatchObject({ kind: "finished" })
})

test("hard links do not count as copies towards the limit of the tool's output", async () => {
  // Exceeds the limit of a workspace, but not 64 copies of the input.
  const words = `-f lavfi -i color=s=320x180 -t 0.4 -c:v rawvideo -f rawvideo out_1`.split(" ")
  const { order, bytes } = await shared(words)
  expect(KEYS * bytes).toBeGreaterThan(10 * 320 * 180 * 1.5)
  const outputs = [{ key: "out_1", name: "out.raw" }]
  expect(await harness.finish({ ...order, work: { ...order.work, outputs } })).toMatchObject({
    blame: "caller",
    failure: { code: "disk_limit" },
  })
})
