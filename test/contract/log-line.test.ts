import { expect, it } from "vitest"
import { z } from "zod"
import { isLogLevelEnabled, formatLogLine, parseLogLevel } from "../../src/contract/log-line.ts"

const entry = { part: "worker", level: "warn", event: "thing.odd" } as const

it("is one line of JSON that begins with time, level and event", () => {
  const line = formatLogLine(entry, { request_id: "r1", text: "two\nlines" })
  expect(line).not.toContain("\n")
  const read = z.record(z.string(), z.unknown()).parse(JSON.parse(line))
  expect(Object.entries(read)).toEqual([
    ["time", expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)],
    ["level", "warn"],
    ["event", "thing.odd"],
    ["part", "worker"],
    ["request_id", "r1"],
    ["text", "two\nlines"],
  ])
})

it("hides secrets at every depth and shortens long values", () => {
  const line = formatLogLine(entry, {
    token: "hello",
    nested: { list: ["https://me:pw@example.com/x"], token: "hello" },
    long: "y".repeat(10_000),
  })
  expect(JSON.parse(line)).toMatchObject({
    token: "[redacted]",
    nested: { list: ["https://example.com/…"], token: "[redacted]" },
  })
  expect(line.length).toBeLessThan(5000)
})

it("leaves out levels below the minimum", () => {
  expect(isLogLevelEnabled("debug", "info")).toBe(false)
  expect(isLogLevelEnabled("warn", "warn")).toBe(true)
  expect(parseLogLevel("warn")).toBe("warn")
  expect(parseLogLevel("loud")).toBe("info")
})
