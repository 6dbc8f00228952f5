import { describe, expect, test } from "vitest"
import { shareFilters } from "../../../../container/tools/quality/filter-chain.ts"

describe("a chain of filters", () => {
  test("is shared as far as all begin alike", () => {
    expect(
      shareFilters([
        ["a", "b", "c"],
        ["a", "b", "d"],
        ["a", "b"],
      ]),
    ).toEqual({
      shared: ["a", "b"],
      rests: [["c"], ["d"], []],
    })
    expect(shareFilters([["a", "b"]])).toEqual({ shared: ["a", "b"], rests: [[]] })
    expect(shareFilters([["a"], ["b"]])).toEqual({ shared: [], rests: [["a"], ["b"]] })
  })
})
