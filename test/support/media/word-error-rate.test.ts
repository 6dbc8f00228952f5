import { describe, expect, it } from "vitest"
import { wordErrorRate } from "./word-error-rate.ts"

describe("the word error rate", () => {
  it.each([
    ["It's late, isn't it?", "its late isn’t it"],
    ["twenty-one boats and 12 nets", "21 boats and twelve nets"],
    ["Thirty: THREE.", "30; three"],
  ])("of %s heard as %s is 0", (said, heard) => {
    expect(wordErrorRate(said, heard)).toBe(0)
  })

  it.each([
    ["one two three four", "one too three four", 0.25],
    ["one two three four", "one three four", 0.25],
    ["one two three four", "one two and three four", 0.25],
    ["one two three four", "", 1],
    ["some words", "of some other words there", 1.5],
  ])("of %s heard as %s is %d", (said, heard, rate) => {
    expect(wordErrorRate(said, heard)).toBe(rate)
  })
})
