import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { processesIn, waitFor } from "../../harness.ts"
import { EBU, measurePeak, probe, SOUND, startNormalizeHarness } from "./normalize-harness.ts"
import type { NormalizeHarness } from "./normalize-harness.ts"
import { measureIntegrated } from "./reference-meter.ts"

const SILENCE = "-f lavfi -i anullsrc=r=48000:cl=stereo:d=2"
const KEY = "-encryption_scheme cenc-aes-ctr -encryption_key 76a6c65c5ea762046bd749a2e632ccbb"
/** Noise that is quiet most of the time, so that its loud part makes the range wide. */
const WIDE =
  "-f lavfi -i anoisesrc=c=pink:r=48000:a=0.5:seed=7:d=40,volume='if(lt(t,8),1,0.03+0.03*floor(t/16))':eval=frame,aformat=channel_layouts=mono"

let lab: NormalizeHarness
/** Path of a file that takes long to measure. */
let long: string

beforeAll(async () => {
  lab = await startNormalizeHarness()
  long = await lab.make("long.flac", "-f lavfi -i anullsrc=d=2000:r=96000:cl=mono")
})

afterAll(() => lab[Symbol.asyncDispose]())

describe("unmeasurable or finished audio stays unchanged:", () => {
  test.for([
    ["silence", "silent.wav", SILENCE, "silent"],
    ["silence of a codec", "silent.mp3", SILENCE, "silent"],
    ["a few milliseconds", "short.wav", `${SOUND} -t 0.05`, "too_short"],
    ["less than a block", "short.flac", `${SOUND} -t 0.39`, "too_short"],
  ])("%s", async ([, name = "", words = "", code]) => {
    const path = await lab.make(name, words)
    const made = await lab.normalize(path)
    const nothing = { integrated_lufs: null, range_lu: null }
    expect(made.result).toMatchObject({
      normalization_type: "none",
      target_reached: false,
      converted_from: null,
      measurements: { before: nothing, after: nothing },
      warnings: [{ code }],
    })
    expect(await readFile(made.path)).toEqual(await readFile(path))
  })

  test("audio that already has the loudness", async () => {
    const path = await lab.make("loud.wav", SOUND)
    const first = await lab.normalize(path)
    const second = await lab.normalize(first.path)
    expect(second.result).toMatchObject({ normalization_type: "none", target_reached: true })
    expect(second.result.warnings).toEqual([])
    expect(await readFile(second.path)).toEqual(await readFile(first.path))
  })

  test("a silent stream beside a loud one", async () => {
    const path = await lab.make("two.mkv", `${SILENCE} ${SOUND} -map 0 -map 1 -c:a flac`)
    const made = await lab.normalize(path)
    expect(made.result).toMatchObject({
      normalization_type: "linear",
      target_reached: true,
      warnings: [{ code: "silent", message: expect.stringContaining("Audio stream 1 of 2") }],
    })
    expect(await measureIntegrated(made.path, 1)).toBeCloseTo(-23, 0)
  })
})

describe("the peak limit holds", () => {
  const loud = { ...EBU, integrated_lufs: -12 }

  test.for([
    ["limited.wav", "", -1],
    ["limited.mp3", "-b:a 128k", -0.5],
  ] as const)("and a limiter reaches the loudness in %s", async ([name, words, peak]) => {
    const made = await lab.normalize(await lab.make(name, `${SOUND} ${words}`), loud)
    expect(made.result).toMatchObject({ normalization_type: "dynamic", target_reached: true })
    expect(await measurePeak(made.path)).toBeLessThanOrEqual(peak)
    expect(Math.abs((await measureIntegrated(made.path)) + 12)).toBeLessThanOrEqual(0.5)
    expect(made.result.measurements.after.range_lu).toBeCloseTo(
      made.result.measurements.before.range_lu ?? 0,
      -1,
    )
  })

  test("and a warning reports an unreachable loudness", async () => {
    const target = { integrated_lufs: -5, range_lu: 20, true_peak_dbtp: -9 }
    const made = await lab.normalize(await lab.make("both.wav", SOUND), target)
    expect(made.result).toMatchObject({
      normalization_type: "dynamic",
      target_reached: false,
      warnings: [
        {
          code: "target_not_reached",
          message: expect.stringMatching(
            /: it has -[\d.]+ LUFS rather than -5, and a true peak of -9\.\d dBTP, where -9 is allowed\.$/,
          ),
        },
      ],
    })
    expect(await measurePeak(made.path)).toBeLessThanOrEqual(-9)
  })
})

test("a target too quiet for 16-bit samples is missed, without blaming the peak", async () => {
  const made = await lab.normalize(await lab.make("coarse.wav", SOUND), {
    ...EBU,
    integrated_lufs: -70,
  })
  expect(made.result).toMatchObject({
    target_reached: false,
    warnings: [
      {
        code: "target_not_reached",
        message: expect.stringMatching(/: it has (?:-[\d.]+|none) LUFS rather than -70\.$/),
      },
    ],
  })
})

test("a wide range is narrowed to the target, and the duration stays", async () => {
  const path = await lab.make("wide.wav", WIDE)
  const made = await lab.normalize(path, { ...EBU, range_lu: 8 })
  const { before, after } = made.result.measurements
  expect(before.range_lu).toBeGreaterThan(12)
  expect(after.range_lu).toBeLessThanOrEqual(8.5)
  expect(made.result).toMatchObject({ normalization_type: "dynamic", target_reached: true })
  expect(Math.abs((await measureIntegrated(made.path, 0, 1)) + 23)).toBeLessThanOrEqual(0.5)
  const [was, is] = [await probe(path), await probe(made.path)]
  expect(is.streams[0]?.["duration_ts"]).toBe(was.streams[0]?.["duration_ts"])
})

describe("a normalization fails", () => {
  test("without audio", async () => {
    const path = await lab.make("mute.mp4", "-f lavfi -i testsrc2=d=1:s=64x36")
    expect(await lab.report(path)).toMatchObject(failure("no_audio"))
  })

  test("for an input that is no media", async () => {
    const path = join(lab.folder, "broken.mp3")
    await writeFile(path, "This is no sound. ".repeat(100))
    const report = await lab.report(path)
    expect(report).toMatchObject(failure("invalid_input"))
    expect(JSON.stringify(report)).not.toContain(lab.harness.settings.workDir)
  })

  test("for an encrypted input", async () => {
    const id = "-encryption_kid a7e61c373e219033c21091fa607bf3b8"
    const path = await lab.make("locked.mp4", `${SOUND} -c:a aac ${KEY} ${id}`)
    expect(await lab.report(path)).toMatchObject(failure("drm_protected"))
  })

  test("after its time limit", async () => {
    const report = await lab.report(long, EBU, 1)
    expect(report).toMatchObject(failure("time_limit"))
  })
})

test("a damaged input is normalized as far as it decodes, with a warning", async () => {
  const whole = await readFile(await lab.make("whole.mp3", SOUND))
  const path = join(lab.folder, "cut.mp3")
  await writeFile(path, whole.subarray(0, whole.length / 2))
  const made = await lab.normalize(path)
  expect(made.result).toMatchObject({
    target_reached: true,
    warnings: [{ code: "input_damaged" }],
  })
})

test("progress never decreases over all passes", async () => {
  await lab.normalize(await lab.make("some.mp3", SOUND), { ...EBU, integrated_lufs: -12 })
  const reports = lab.harness.io.reports.filter((report) => report.kind === "progress")
  const percents = reports.map(({ percent }) => percent)
  expect(percents).toEqual(percents.toSorted((one, other) => one - other))
  expect(percents.at(-1)).toBeLessThanOrEqual(99)
})

test("a killed normalization ends its tool at once", async () => {
  const bytes = new Uint8Array(await readFile(long))
  lab.harness.io.outputs.clear()
  lab.harness.io.inputs.set("file", bytes)
  const inputs = [{ key: "file", name: "file.flac", size_bytes: bytes.length }]
  const outputs = [{ key: "output", name: "output" }]
  const work = { kind: "normalize", target: EBU, run_seconds_max: 60, outputs }
  const order = lab.harness.order([["x"]], { inputs, work })
  await lab.harness.call("POST", "/tasks", order)
  const { workDir } = lab.harness.settings
  await waitFor(async () => (await processesIn(workDir)).length > 0)
  await lab.harness.call("DELETE", `/tasks/${order.task_id}?fence=1`)
  await waitFor(async () => (await processesIn(workDir)).length === 0)
  await waitFor(async () => (await lab.harness.workspaces()).length === 0)
  expect(lab.harness.io.outputs.has("output")).toBe(false)
})

function failure(code: string) {
  return { kind: "failed", blame: "caller", failure: { code } }
}
