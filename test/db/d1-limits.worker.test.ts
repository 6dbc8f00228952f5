import { env } from "cloudflare:workers"
import { expect, it } from "vitest"

const length = env.DB.prepare("select length(?) as n")

it("takes a value of 2,000,000 bytes of UTF-8, and no longer one", async () => {
  expect(await length.bind("x".repeat(2_000_000)).first("n")).toBe(2_000_000)
  expect(await length.bind("€".repeat(666_666)).first("n")).toBe(666_666)
  const long = "D1_ERROR: a value: 2000001, and D1 takes 2000000"
  expect(() => length.bind("x".repeat(2_000_001))).toThrow(long)
  expect(() => length.bind("€".repeat(666_667))).toThrow(long)
})

it("takes 2,000,000 bytes in one statement, and no more", async () => {
  const both = env.DB.prepare("select length(?) + length(?) as n")
  const [long, rest] = ["x".repeat(1_999_000), "y".repeat(1_000)]
  expect(await both.bind(long, rest).first("n")).toBe(2_000_000)
  expect(() => both.bind(long, `${rest}y`)).toThrow("a row: 2000001, and D1 takes 2000000")
})

it("takes a statement of 100,000 bytes of UTF-8, and no longer one", async () => {
  function text(characters: string): string {
    return `select '${characters}' is null as n`
  }
  const rest = text("").length
  expect(await env.DB.prepare(text("x".repeat(100_000 - rest))).first("n")).toBe(0)
  expect(() => env.DB.prepare(text("x".repeat(100_001 - rest)))).toThrow("the text of a statement")
  expect(() => env.DB.prepare(text("€".repeat(33_334)))).toThrow("the text of a statement")
})
