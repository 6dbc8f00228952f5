import { copyFile, mkdtemp, readFile, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { extname, join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import { createTierSandbox } from "../../../container/sandbox/tiers/choose-sandbox.ts"
import { createSandboxWithoutTask } from "../../../container/sandbox/sandbox.ts"
import {
  inputDamageWarning,
  findInputDamageLine,
} from "../../../container/tools/ffmpeg/input-damage.ts"
import { explainUnreadableFile } from "../../../container/tools/ffmpeg/unreadable-inputs.ts"
import { probeFile } from "../../../container/tools/ffmpeg/probe-file.ts"
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
  "a probe by ends finds the same as a probe of the whole file, in every format",
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
    // With the index at the end, at the head or absent, two requests suffice.
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

test("a probe by ends downloads the whole file if the Worker sends no ranges", async () => {
  const bytes = new Uint8Array(await readFile(join(folder, "end.mp4")))
  harness.io.intercept = (_call, { headers }) => (headers.has("range") ? new Response(bytes) : null)
  const report = await probe("end.mp4")
  expect(report).toMatchObject({ kind: "finished", result: await probeWhole("end.mp4") })
  expect(countWholes()).toBe(1)
})

test("a probe by ends retries after a 503", async () => {
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

test("a probe by ends fails for a wrong input size", async () => {
  const bytes = await readFile(join(folder, "end.mp4"))
  harness.io.inputs.set("in_1", new Uint8Array(bytes))
  const inputs = [{ key: "in_1", name: "in_1.mp4", size_bytes: bytes.length + 100 }]
  const report = await harness.finish(harness.order([["x"]], { work: { kind: "probe" }, inputs }))
  expect(report).toMatchObject({ kind: "failed", failure: { code: "input_failed" } })
})

test("a probe by ends stops without a report when its run is stale", async () => {
  harness.io.intercept = (call) =>
    call.includes("/inputs/") ? new Response("", { status: 410 }) : null
  harness.io.inputs.set("in_1", new Uint8Array(await readFile(join(folder, "end.mp4"))))
  const order = harness.order([["x"]], { work: { kind: "probe" } })
  expect((await harness.call("POST", "/tasks", order)).status).toBe(202)
  const path = `/tasks/${order.task_id}`
  await waitFor(async () => (await (await harness.call("GET", path)).text()).includes("done"))
  expect(harness.io.reports.filter(({ kind }) => kind !== "started")).toEqual([])
})

/** Probes a file by the runner. */
async function probe(file: string) {
  const bytes = new Uint8Array(await readFile(join(folder, file)))
  harness.io.inputs.set("in_1", bytes)
  const inputs = [{ key: "in_1", name: nameOf(file), size_bytes: bytes.length }]
  const work = { kind: "probe", is_optional: true }
  return await harness.finish(harness.order([["x"]], { work, inputs }))
}

/** Returns the result of a probe of the whole file. */
async function probeWhole(file: string): Promise<unknown> {
  const name = nameOf(file)
  const workspace = await mkdtemp(join(tmpdir(), "lathe-whole-"))
  await copyFile(join(folder, file), join(workspace, name))
  const probed = await probeFile({
    tool: harness.settings.toolPaths.ffprobe,
    taskSandbox: createSandboxWithoutTask(createTierSandbox("none", harness.settings)),
    workspace,
    name,
    signal: new AbortController().signal,
  })
  await rm(workspace, { recursive: true })
  if (!("probe" in probed)) {
    if (file === "words.txt") return { kind: "probe", warnings: [] }
    const lines = probed.lines.join("\n")
    return { kind: "probe", probe_error: explainUnreadableFile(probed), probe_lines: lines }
  }
  const line = findInputDamageLine(probed.complaints, [probed.probe.format_name])
  const warnings = line === null ? [] : [inputDamageWarning(null, line)]
  return { kind: "probe", probe: probed.probe, warnings }
}

function nameOf(file: string): string {
  return `in_1${extname(file)}`
}

function countGets(): number {
  return harness.io.requests.filter(({ call }) => call === "GET /inputs/in_1").length
}

/** Returns the number of requests for the whole input. */
function countWholes(): number {
  return harness.io.requests.filter(
    ({ call, headers }) => call === "GET /inputs/in_1" && !headers.has("range"),
  ).length
}
