import { describe, expect, test } from "vitest"
import { makeDidYouMeanClause, findNearestName } from "../../src/hints/nearest-name.ts"

const NAMES = ["scale", "setpts", "pix_fmt", "libx264", "libx265", "movflags", "preset", "h"]

describe("the nearest name", () => {
  test.for<[string, string | null]>([
    ["scael", "scale"],
    ["scal", "scale"],
    ["sclae", "scale"],
    ["SCALE", "scale"],
    ["csale", "scale"],
    ["eslac", null],
    ["pixfmt", "pix_fmt"],
    ["pix-fmt", "pix_fmt"],
    ["libx246", "libx264"],
    ["lib264", "libx264"],
    ["libx26", "libx264"],
    ["mvflgs", "movflags"],
    ["setptspts", "setpts"],
    ["xyz", null],
    ["i", null],
    ["", null],
    ["s".repeat(65), null],
    ["İ".repeat(64), null],
  ])("of %s", ([word, name]) => {
    expect(findNearestName(word, NAMES)).toBe(name)
  })

  test("is suggested with `did you mean`", () => {
    expect(makeDidYouMeanClause("scael", NAMES)).toBe("; did you mean `scale`?")
    expect(makeDidYouMeanClause("xyz", NAMES)).toBe("")
  })
})
