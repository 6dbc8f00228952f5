import { describe, expect, test } from "vitest"
import {
  makeOutputZipName,
  findBundleKind,
  matchesNamePattern,
  bundleMemberNameSchema,
} from "../../src/contract/bundle.ts"
import { measureCpuMs } from "../support/processor-time.ts"

test.for([
  ["a.mp4", null],
  ["a.M3U8", "playlist"],
  ["a.mpd", "playlist"],
  ["a_%v.m3u8", "series"],
  ["100%%.mp4", null],
  ["100%%d.mp4", null],
  ["50% off.mp4", null],
  ["50% off.m3u8", "playlist"],
  ["%Y-%m.png", null],
])("an output called %s is of the kind %s", ([name, kind]) => {
  expect(findBundleKind({ name: name ?? "" })).toBe(kind)
})

test.for<[string, string, boolean]>([
  ["f_%03d.png", "f_001.png", true],
  ["f_%03d.png", "f_1234.png", true],
  ["f_%03d.png", "f_01.png", false],
  ["f_%03d.png", "f_%03d.png", true],
  ["f_%d.png", "f_.png", false],
  ["f_%d.png", "f_01.png", false],
  ["f_%02d.png", "f_101.png", true],
  ["f_%02d.png", "f_001.png", false],
  ["f_%d.png", "f_1xpng", false],
  ["s_%v_%d.ts", "s_high_12.ts", true],
  ["50%%_%d.ts", "50%_1.ts", true],
  ["50%%_%d.ts", "50%%_1.ts", true],
  ["f_%d", "f_0", true],
  ["f_%d", "f_01", false],
  ["f_%02d", "f_012", false],
  ["f_%02d", "f_112", true],
  ["%d%d", "1", false],
  ["%d%d", "10", true],
  ["%d%d", "00", true],
  ["%d%d", "010", true],
  ["%d%d", "0010", false],
  ["%v0%03d", "a00001", true],
  ["%v%v", "a", false],
  ["%v.ts%v", "a.ts.ts", true],
  ["a%va", "a", false],
])("the pattern %s matches the name %s: %s", ([pattern, name, fits]) => {
  expect(matchesNamePattern({ name: pattern }, name)).toBe(fits)
})

test.for<[string, string, boolean]>([
  ["%Y-%m-%d.png", "2026-11-26.png", true],
  ["%Y-%m-%d.png", "2026-11-.png", false],
  ["at %H.png", "at 09.png", true],
  ["at %H.png", "at.png", false],
  ["%s_%%03d.ts", "1_004.ts", true],
  ["100%% %H.png", "100% 09.png", true],
])("the pattern of times %s matches the name %s: %s", ([name, made, fits]) => {
  const output = { name, has_times: true as const }
  expect(findBundleKind(output)).toBe("series")
  expect(matchesNamePattern(output, made)).toBe(fits)
})

test("the archive of a pattern of times has the text around the times", () => {
  expect(makeOutputZipName({ name: "shot_%Y-%m-%d.png", has_times: true })).toBe("shot.zip")
})

test("matching takes linear time, also for a name that nearly matches in many ways", async () => {
  const tookMs = await measureCpuMs(() => {
    for (const field of ["%v", "%d", "%02d", "%%"]) {
      const pattern = `1${`${field}1`.repeat(50)}x%d`
      for (let each = 0; each < 1000; each += 1) {
        expect(matchesNamePattern({ name: pattern }, `${"1".repeat(238)}x${field}`)).toBe(false)
      }
    }
  })
  expect(tookMs).toBeLessThan(10_000)
})

test.for([
  ["frame_%03d.png", "frame.zip"],
  ["stream_%v.m3u8", "stream.zip"],
  ["%d.png", "files.zip"],
  ["a_%d_b.png", "a_b.zip"],
  ["%03d - frame.png", "frame.zip"],
  ["50%% %d.png", "50%.zip"],
  ["50% off %03d.png", "50% off.zip"],
])("the archive of %s is called %s", ([pattern, name]) => {
  expect(makeOutputZipName({ name: pattern ?? "" })).toBe(name)
})

describe("a member", () => {
  test.for(["a.ts", "ä ö.ts", "100%.ts", "...", ".a", "日本"])("may be called %s", (name) => {
    expect(bundleMemberNameSchema.safeParse(name).success).toBe(true)
  })

  test.for(["", ".", "..", "a/b", "a\\b", "a\nb", "\u007f", "a\u0000", "\ud800", "é".repeat(121)])(
    "may not be called %j",
    (name) => {
      expect(bundleMemberNameSchema.safeParse(name).success).toBe(false)
    },
  )
})
