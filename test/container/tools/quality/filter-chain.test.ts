import { describe, expect, test } from "vitest"
import { shareFilters, splitFilters } from "../../../../container/tools/quality/filter-chain.ts"

describe("a chain of filters", () => {
  test("is split at commas that separate filters, and at no others", () => {
    expect(splitFilters(String.raw`select='eq(n,1)',drawtext=a\,b,fps=25`)).toEqual([
      "select='eq(n,1)'",
      String.raw`drawtext=a\,b`,
      "fps=25",
    ])
    expect(splitFilters("")).toEqual([])
  })

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
