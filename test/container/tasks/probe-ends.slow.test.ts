import { copyFile, mkdtemp, readFile, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { extname, join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import { describeSandbox } from "../../../container/sandbox/choose.ts"
import { runnerSandbox } from "../../../container/sandbox/sandbox.ts"
import { damageWarning, findDamageLine } from "../../../container/tools/damage.ts"
import { probeFile } from "../../../container/tools/ffprobe.ts"
import { startHarness, waitFor } from "../harness.ts"
import type { Harness } from "../harness.ts"
import { makeLargeMedia } from "./large-media.ts"

let folder: string
let harness: Harness

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-large-"))
  await makeLargeMedia(folder)
}, 300_000)

beforeEach(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await harness.closeClean()
})

afterAll(async () => await rm(folder, { recursive: true }))

test(
  "finds in every format what ffprobe finds in the whole file",
  { timeout: 300_000 },
  async () => {
    const brought: Record<string, number> = {}
    for (const file of await readdir(folder)) {
      harness.io.reports.length = 0
      harness.io.requests.length = 0
      const report = await probe(file)
      const found = await probeWhole(file)
      expect({ file, result: "result" in report && report.result }).toEqual({ file, result: found })
      brought[file] = countWholes() > 0 ? Infinity : countGets()
    }
    // An index at the end, at the head or nowhere: two requests bring all that is read.
    expect(brought).toMatchObject({
      "end.mp4": 2,
      "head.mp4": 2,
      "end.mkv": 2,
      "song.mp3": 2,
      "sound.wav": 2,
      "film.mp4": Infinity,
    })
  },
)

test("brings the whole where the Worker sends no ranges", async () => {
  const bytes = new Uint8Array(await readFile(join(folder, "end.mp4")))
  harness.io.intercept = (_call, { headers }) => (headers.has("range") ? new Response(bytes) : null)
  const report = await probe("end.mp4")
  expect(report).toMatchObject({ kind: "finished", result: await probeWhole("end.mp4") })
  expect(countWholes()).toBe(1)
})

test("asks again where a connection breaks", async () => {
  let broken = 0
  harness.io.intercept = (call) => {
    if (!call.includes("/inputs/") || broken >= 2) return null
    broken += 1
    return new Response("", { status: 503 })
  }
  const report = await probe("end.mp4")
  expect(report).toMatchObject({ kind: "finished", result: await probeWhole("end.mp4") })
  expect({ broken, wholes: countWholes() }).toEqual({ broken: 2, wholes: 0 })
})

test("fails as any download does where the input is not what the task says", async () => {
  const bytes = await readFile(join(folder, "end.mp4"))
  harness.io.inputs.set("in_1", new Uint8Array(bytes))
  const inputs = [{ key: "in_1", name: "in_1.mp4", size_bytes: bytes.length + 100 }]
  const report = await harness.finish(harness.order([["x"]], { work: { kind: "probe" }, inputs }))
  expect(report).toMatchObject({ kind: "failed", failure: { code: "input_failed" } })
})

test("ends without a report where the run is no longer wanted", async () => {
  harness.io.intercept = (call) =>
    call.includes("/inputs/") ? new Response("", { status: 410 }) : null
  harness.io.inputs.set("in_1", new Uint8Array(await readFile(join(folder, "end.mp4"))))
  const order = harness.order([["x"]], { work: { kind: "probe" } })
  expect((await harness.call("POST", "/tasks", order)).status).toBe(202)
  const path = `/tasks/${order.task_id}`
  await waitFor(async () => (await (await harness.call("GET", path)).text()).includes("done"))
  expect(harness.io.reports.filter(({ kind }) => kind !== "started")).toEqual([])
})

/** Has the runner probe a file. */
async function probe(file: string) {
  const bytes = new Uint8Array(await readFile(join(folder, file)))
  harness.io.inputs.set("in_1", bytes)
  const inputs = [{ key: "in_1", name: nameOf(file), size_bytes: bytes.length }]
  const work = { kind: "probe", is_optional: true }
  return await harness.finish(harness.order([["x"]], { work, inputs }))
}

/** The result of a task that has the whole file. */
async function probeWhole(file: string): Promise<unknown> {
  const name = nameOf(file)
  const workspace = await mkdtemp(join(tmpdir(), "lathe-whole-"))
  await copyFile(join(folder, file), join(workspace, name))
  const probed = await probeFile({
    tool: harness.settings.toolPaths.ffprobe,
    taskSandbox: runnerSandbox(describeSandbox("none", harness.settings)),
    workspace,
    name,
    signal: new AbortController().signal,
  })
  await rm(workspace, { recursive: true })
  if (!("probe" in probed)) {
    const probe_error = `This is not a media file that can be read: ${probed.reason}.`
    return { kind: "probe", probe_error }
  }
  const line = findDamageLine(probed.complaints, [probed.probe.format_name])
  const warnings = line === null ? [] : [damageWarning(null, line)]
  return { kind: "probe", probe: probed.probe, warnings }
}

function nameOf(file: string): string {
  return `in_1${extname(file)}`
}

function countGets(): number {
  return harness.io.requests.filter(({ call }) => call === "GET /inputs/in_1").length
}

/** How often the input was asked for as a whole. */
function countWholes(): number {
  return harness.io.requests.filter(
    ({ call, headers }) => call === "GET /inputs/in_1" && !headers.has("range"),
  ).length
}
