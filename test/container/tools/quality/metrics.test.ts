import { describe, expect, test } from "vitest"
import { meanScore, METRICS } from "../../../../container/tools/quality/metrics.ts"

const SSIM = [
  "n:1 Y:0.934021 U:0.987234 V:0.987500 All:0.951803 (13.169886)",
  "n:2 Y:1.000000 U:1.000000 V:1.000000 All:1.000000 (inf)",
  "n:3 Y:0.93",
].join("\n")

describe("scores of frames", () => {
  test("of SSIM are those of all planes, and none of a line that was cut off", () => {
    expect(METRICS.ssim.readScores(SSIM)).toEqual([0.951803, 1])
    expect(METRICS.ssim.readScores(SSIM.slice(0, SSIM.indexOf(" (inf")))).toEqual([0.951803])
  })

  test("of VMAF leave out the first, for which nothing has moved", () => {
    expect(METRICS.vmaf.readScores(vmafLog([91, 97.5, 98]))).toEqual([97.5, 98])
    expect(METRICS.vmaf.readScores(vmafLog([91]))).toEqual([91])
  })

  test.for(["", "{", "null", '{"frames": [{"metrics": {}}]}'])(
    "of VMAF are none in a log that says nothing: %s",
    (log) => {
      expect(METRICS.vmaf.readScores(log)).toEqual([])
    },
  )

  test("have a mean that is as precise as the metric", () => {
    expect(meanScore("vmaf", [91.237, 92.111])).toBe(91.67)
    expect(meanScore("ssim", [0.9518031, 1])).toBe(0.9759)
    expect(meanScore("ssim", [0.951803, 0.951804])).toBe(0.9518)
    expect(meanScore("ssim", [])).toBeNull()
  })
})

function vmafLog(scores: number[]): string {
  const frames = scores.map((vmaf, frameNum) => ({ frameNum, metrics: { vmaf, motion: 1 } }))
  return JSON.stringify({ version: "3.0.0", frames })
}
