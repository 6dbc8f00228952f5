import { afterAll, beforeAll, expect, test } from "vitest"
import { NOT_MEDIA_WARNING } from "../../../src/contract/warning.ts"
import { makeWorkspaceInputName } from "../../../src/contract/task.ts"
import type { Report } from "../../../src/contract/report.ts"
import { probeTaskDefinition } from "../../../src/contract/tasks/probe.ts"
import { makeDataFiles } from "../../corpus/data-files.ts"
import type { DataFile } from "../../corpus/data-files.ts"
import { startHarness } from "../harness.ts"
import type { Harness } from "../harness.ts"

let harness: Harness
let files: DataFile[]

beforeAll(async () => {
  files = await makeDataFiles()
  harness = await startHarness()
})

afterAll(async () => {
  await harness.closeClean()
})

/** Probes a file by the runner; `work` changes the task, and `more` its input. */
async function probe(
  { name, bytes }: Pick<DataFile, "name" | "bytes">,
  { work = {}, more = {} }: { work?: object; more?: object } = {},
) {
  harness.io.reports.length = 0
  harness.io.inputs.set("in_1", new Uint8Array(bytes))
  const input = {
    key: "in_1",
    name: makeWorkspaceInputName("in_1", name),
    size_bytes: bytes.length,
    ...more,
  }
  const order = harness.order([["x"]], { work: { kind: "probe", ...work }, inputs: [input] })
  return await harness.finish(order)
}

test("a probe tells data, media and broken media apart", { timeout: 120_000 }, async () => {
  const ends = new Map<string, unknown>()
  for (const file of files) ends.set(file.name, endOf(await probe(file)))
  const expected = files.map(({ name, end }): [string, unknown] => [
    name,
    expect.stringMatching(end),
  ])
  expect(Object.fromEntries(ends)).toEqual(Object.fromEntries(expected))
})

/** Returns the end of a probe in the words of `DataFile`; an unexpected report unchanged. */
function endOf(report: Report): unknown {
  if (report.kind === "failed" && report.failure.code === "probe_failed") {
    return report.failure.message
  }
  if (report.kind !== "finished") return report
  const { probe: found, warnings } = probeTaskDefinition.result.parse(report.result)
  if (found) return "probe"
  return warnings?.[0]?.code === NOT_MEDIA_WARNING.code ? "not_media" : report
}

test("a picture that is cut and can be read is damaged", async () => {
  const half = files.find(({ name }) => name === "half.png")
  const report = await probe({ name: "half.png", bytes: half?.bytes ?? Buffer.alloc(0) })
  expect(report).toMatchObject({
    kind: "finished",
    result: { probe: { width: 640 }, warnings: [{ code: "input_damaged" }] },
  })
})

test("the media type of a file says what it was meant as", async () => {
  const bytes = Buffer.from("Plain words.\n")
  const more = { content_type: "video/mp4" }
  expect(await probe({ name: "words", bytes }, { more })).toMatchObject({ kind: "failed" })
  expect(await probe({ name: "words", bytes })).toMatchObject({ kind: "finished" })
})

test("an optional probe of data has no warning, and that of broken media the lines of ffprobe", async () => {
  const work = { is_optional: true }
  const data = await probe({ name: "words.txt", bytes: Buffer.from("Plain words.\n") }, { work })
  expect(data).toMatchObject({ kind: "finished", result: { kind: "probe", warnings: [] } })
  const half = files.find(({ name }) => name === "half.mp4")
  const cut = await probe({ name: "half.mp4", bytes: half?.bytes ?? Buffer.alloc(0) }, { work })
  expect(cut).toMatchObject({
    kind: "finished",
    result: {
      probe_error: expect.stringMatching(/^The file is cut off: its index/),
      probe_lines: expect.stringContaining("moov atom not found"),
    },
  })
})
