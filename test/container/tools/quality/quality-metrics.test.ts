import { describe, expect, test } from "vitest"
import {
  meanQualityScore,
  QUALITY_METRIC_DEFINITIONS,
} from "../../../../container/tools/quality/quality-metrics.ts"

const SSIM = [
  "n:1 Y:0.934021 U:0.987234 V:0.987500 All:0.951803 (13.169886)",
  "n:2 Y:1.000000 U:1.000000 V:1.000000 All:1.000000 (inf)",
  "n:3 Y:0.93",
].join("\n")

describe("scores of frames", () => {
  test("of SSIM cover all planes, and skip an incomplete line", () => {
    expect(QUALITY_METRIC_DEFINITIONS.ssim.readScores(SSIM)).toEqual([0.951803, 1])
    const cut = SSIM.slice(0, SSIM.indexOf(" (inf"))
    expect(QUALITY_METRIC_DEFINITIONS.ssim.readScores(cut)).toEqual([0.951803])
  })

  test("of VMAF skip the first frame, which has no motion", () => {
    expect(QUALITY_METRIC_DEFINITIONS.vmaf.readScores(vmafLog([91, 97.5, 98]))).toEqual([97.5, 98])
    expect(QUALITY_METRIC_DEFINITIONS.vmaf.readScores(vmafLog([91]))).toEqual([91])
  })

  test.for(["", "{", "null", '{"frames": [{"metrics": {}}]}'])(
    "of VMAF are empty for an invalid log: %s",
    (log) => {
      expect(QUALITY_METRIC_DEFINITIONS.vmaf.readScores(log)).toEqual([])
    },
  )

  test("have a mean with the precision of the metric", () => {
    expect(meanQualityScore("vmaf", [91.237, 92.111])).toBe(91.67)
    expect(meanQualityScore("ssim", [0.9518031, 1])).toBe(0.9759)
    expect(meanQualityScore("ssim", [0.951803, 0.951804])).toBe(0.9518)
    expect(meanQualityScore("ssim", [])).toBeNull()
  })
})

function vmafLog(scores: number[]): string {
  const frames = scores.map((vmaf, frameNum) => ({ frameNum, metrics: { vmaf, motion: 1 } }))
  return JSON.stringify({ version: "3.0.0", frames })
}
