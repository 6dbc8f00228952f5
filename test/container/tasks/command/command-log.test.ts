import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Report } from "../../../../src/contract/report.ts"
import { makeVideo, startHarness } from "../../harness.ts"
import type { Harness } from "../../harness.ts"

let harness: Harness

beforeEach(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await harness.closeClean()
})

/** Runs commands; returns the kind of the last report, and its log. */
async function run(...commands: string[]): Promise<{ kind: Report["kind"]; log: string | null }> {
  const report = await harness.finish(harness.order(commands.map((each) => each.split(" "))))
  return { kind: report.kind, log: ("log" in report ? report.log : null) ?? null }
}

const TONE = "-f lavfi -i sine=d=1"

describe("the log of a command", () => {
  test("has the figures of a filter unchanged", async () => {
    const { kind, log } = await run(
      `${TONE} -af loudnorm=print_format=json,volumedetect -c:a aac out_1`,
    )
    expect(kind).toBe("finished")
    const json = /\{\n[^{}]*\}/.exec(log ?? "")?.[0] ?? ""
    expect(JSON.parse(json)).toHaveProperty("input_i")
    expect(log).toMatch(/^\[Parsed_volumedetect_1\] max_volume: /m)
    expect(log).toContain("Output #0, mp4, to '{{out_1}}':")
    expect(log).not.toMatch(/^frame=|^size=| @ 0x/m)
  })

  test("names inputs by their keys, and has no paths of the machine", async () => {
    harness.io.inputs.set("in_1", await makeVideo())
    const { log } = await run("-i in_1 -vf cropdetect,blackdetect -an -c:v mpeg4 out_1")
    expect(log).toContain("Input #0, mov,mp4,m4a,3gp,3g2,mj2, from '{{in_1}}':")
    expect(log).toMatch(/crop=\d+:\d+:\d+:\d+/)
    expect(log).not.toContain(harness.settings.workDir)
  })

  test("has the output of each of several commands", async () => {
    const { log } = await run(`${TONE} one.wav`, "-i one.wav -c:a aac out_1")
    expect(log).toMatch(/^Command 1 of 2:\n[^]+\nCommand 2 of 2:\n[^]+from 'one.wav'/)
  })

  test("is kept after a failure and after a time limit", async () => {
    const failed = await run(`${TONE} -c:a nosuch out_1`)
    expect(failed.kind).toBe("failed")
    expect(failed.log).toContain("Unknown encoder 'nosuch'")
    harness.io.reports.length = 0
    const work = {
      kind: "command",
      commands: [`-re ${TONE.replace("d=1", "d=60")} -c:a aac out_1`.split(" ")],
      outputs: [{ key: "out_1", name: "out.mp4" }],
      run_seconds_max: 1,
    }
    const stopped = await harness.finish(harness.order([["x"]], { work }))
    expect(stopped).toMatchObject({ failure: { code: "time_limit" } })
    expect(stopped).toMatchObject({ log: expect.stringContaining("Input #0, lavfi") })
  })

  test("is empty with -v quiet", async () => {
    expect(await run(`-v quiet ${TONE} -c:a aac out_1`)).toEqual({ kind: "finished", log: "" })
  })

  test("is absent if no command began", async () => {
    const inputs = [{ key: "in_1", name: "in_1.mp4", size_bytes: 1e15 }]
    const order = harness.order([["-i", "in_1", "out_1"]], { inputs })
    const report = await harness.finish(order)
    expect(report).toMatchObject({ failure: { code: "inputs_too_large" } })
    expect(report).not.toHaveProperty("log")
  })
})
