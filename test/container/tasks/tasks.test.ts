import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { probeTaskDefinition } from "../../../src/contract/tasks/probe.ts"
import { makeVideo, startHarness } from "../harness.ts"
import type { Harness } from "../harness.ts"

let video: Uint8Array<ArrayBuffer>
let harness: Harness

beforeAll(async () => {
  video = await makeVideo()
})

beforeEach(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await harness.closeClean()
})

afterAll(() => {
  video = new Uint8Array()
})

describe("a probe", () => {
  test("describes a video without paths of the machine", async () => {
    harness.io.inputs.set("in_1", video)
    const order = harness.order([["x"]], { work: { kind: "probe" } })
    const report = await harness.finish(order)
    expect(report).toMatchObject({
      kind: "finished",
      boot: harness.settings.boot,
      result: {
        kind: "probe",
        probe: { width: 128, height: 72, format: { filename: "in_1.mp4" } },
      },
    })
    if (report.kind !== "finished") return
    const { probe } = probeTaskDefinition.result.parse(report.result)
    expect(probe?.duration).toBeCloseTo(2, 1)
    expect(probe?.format_name).toContain("mp4")
    expect(probe?.streams).toHaveLength(2)
    expect(report.processing_seconds).toBeGreaterThan(0)
    expect(JSON.stringify(report)).not.toContain(harness.settings.workDir)
  })

  test.for([
    ["a text under the name of a video", "This is no video", "The file is text, not media."],
    ["nothing", "", "The file is empty."],
  ])("fails for %s", async ([, text = "", sentence = ""]) => {
    const bytes = new TextEncoder().encode(text)
    harness.io.inputs.set("in_1", bytes)
    const report = await harness.finish(harness.order([["x"]], { work: { kind: "probe" } }))
    expect(report).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: { code: "probe_failed", message: expect.stringContaining(sentence) },
    })
  })
})

describe("a command", () => {
  test("combines two inputs and stores the output with its probe", async () => {
    harness.io.inputs.set("in_1", video)
    harness.io.inputs.set("in_2", video)
    const words = "-i {{in_1}} -i in_2 -filter_complex [0:v][1:v]hstack[v] -map [v] {{out_1}}"
    const report = await harness.finish(harness.order([words.split(" ")]))
    const stored = harness.io.outputs.get("out_1")
    expect(stored?.contentType).toBe("video/mp4")
    expect(report).toMatchObject({
      kind: "finished",
      result: {
        kind: "command",
        outputs: [
          {
            key: "out_1",
            size_bytes: stored?.bytes.length,
            content_type: "video/mp4",
            probe: { width: 256, height: 72 },
          },
        ],
      },
    })
    expect(harness.io.reports.at(-1)).toBe(report)
  })

  test("keeps the pass log between two passes", async () => {
    harness.io.inputs.set("in_1", video)
    const coding = "-c:v libx264 -b:v 100k -preset ultrafast"
    const report = await harness.finish(
      harness.order([
        `-i {{in_1}} ${coding} -pass 1 -an -f null /dev/null`.split(" "),
        `-i {{in_1}} ${coding} -pass 2 {{out_1}}`.split(" "),
      ]),
    )
    expect(report).toMatchObject({
      kind: "finished",
      result: { outputs: [{ key: "out_1" }] },
    })
  })

  test("without output files succeeds, and its log has the results", async () => {
    harness.io.inputs.set("in_1", video)
    const order = harness.order(["-i in_1 -vf blackdetect -af volumedetect -f null -".split(" ")])
    const work = { ...order.work, outputs: [] }
    expect(await harness.finish({ ...order, work })).toMatchObject({
      kind: "finished",
      result: { kind: "command", outputs: [], warnings: [] },
      log: expect.stringContaining("mean_volume"),
    })
    expect(harness.io.outputs.size).toBe(0)
  })

  test("stores an output that cannot be probed", async () => {
    harness.io.inputs.set("in_1", video)
    const order = harness.order(["-i in_1 -f md5 out_1".split(" ")])
    const outputs = [{ key: "out_1", name: "sum.txt" }]
    const work = { ...order.work, outputs }
    const report = await harness.finish({ ...order, work })
    expect(report).toMatchObject({
      kind: "finished",
      result: { outputs: [{ content_type: "text/plain", probe_error: expect.any(String) }] },
    })
  })

  test("fails if a declared output is missing", async () => {
    const order = harness.order(["-f lavfi -i color=d=0.1 other.mp4".split(" ")])
    expect(await harness.finish(order)).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: { code: "no_output", message: 'The output out_1 ("out.mp4") was not made.' },
    })
  })

  test("names the failing command of a sequence", async () => {
    harness.io.inputs.set("in_1", video)
    const report = await harness.finish(
      harness.order([
        "-i in_1 -c copy copy.mp4".split(" "),
        "-i copy.mp4 -c:v nosuch out_1".split(" "),
      ]),
    )
    expect(report).toMatchObject({
      failure: {
        code: "encoder_not_found",
        message:
          'Command 2 of 2: There is no encoder "nosuch": write one that there is, as libx264, libvpx-vp9, aac or libopus.',
        lines: expect.arrayContaining([expect.stringContaining("Unknown encoder 'nosuch'")]),
      },
    })
  })

  test("reports increasing progress with ffmpeg's details", async () => {
    const words = "-re -f lavfi -i testsrc2=size=64x36:rate=10:d=2.5 -c:v mpeg4 out_1"
    await harness.finish(harness.order([words.split(" ")]))
    const reports = harness.io.reports.filter((report) => report.kind === "progress")
    const percents = reports.map(({ percent }) => percent)
    expect(percents.length).toBeGreaterThan(1)
    expect(percents).toEqual(percents.toSorted((one, other) => one - other))
    expect(percents.at(-1)).toBeLessThanOrEqual(99)
    expect(reports.at(-1)?.eta_seconds).toBeTypeOf("number")
    const { detail } = reports.at(-1) ?? {}
    expect(detail?.time_seconds).toBeGreaterThan(1)
    expect(detail?.frame).toBeGreaterThan(10)
  })

  test("reports frames and time of work with an unknown end", async () => {
    const graph = "testsrc2=size=64x36:rate=10,setpts=PTS+random(0),trim=end_frame=32"
    const words = ["-re", "-f", "lavfi", "-i", graph, "-c:v", "mpeg4", "out_1"]
    expect(await harness.finish(harness.order([words]))).toMatchObject({ kind: "finished" })
    const [first] = harness.io.reports.filter((report) => report.kind === "progress")
    expect(first).toMatchObject({ percent: 0, detail: { frame: expect.any(Number) } })
    expect(first).not.toHaveProperty("eta_seconds")
    expect(first?.detail?.frame).toBeGreaterThan(10)
  })

  test("counts two passes as two halves of the work", async () => {
    const source = "-re -f lavfi -i testsrc2=size=64x36:rate=10:d=2 -c:v mpeg4 -passlogfile log"
    const passes = [`${source} -pass 1 -f null -`, `${source} -pass 2 out_1`]
    await harness.finish(harness.order(passes.map((pass) => pass.split(" "))))
    const reports = harness.io.reports.filter((report) => report.kind === "progress")
    // The output time restarts in the second pass, whose progress starts at half.
    const ofPasses = reports.flatMap(({ percent, detail }) => {
      const share = (detail?.time_seconds ?? 0) / 2
      return share > 0.2 && share < 0.9 ? [{ percent, share }] : []
    })
    const offsets = ofPasses.map(({ percent, share }) => Math.round(percent - share * 50))
    expect(offsets.some((offset) => Math.abs(offset) <= 10)).toBe(true)
    expect(offsets.some((offset) => Math.abs(offset - 50) <= 10)).toBe(true)
  })
})
