import { afterEach, expect, it, vi } from "vitest"
import { isSampled } from "../src/contract/log-line.ts"
import { log, setLogSampleRate } from "../src/log.ts"
import type { LogFacts, LogLevel } from "../src/contract/log-line.ts"

afterEach(() => {
  setLogSampleRate(1)
  vi.restoreAllMocks()
})

function isWritten(level: LogLevel, facts: LogFacts): boolean {
  const spy = vi.spyOn(console, level).mockImplementation(() => undefined)
  log(level, "tested", facts)
  const { length } = spy.mock.calls
  spy.mockRestore()
  return length === 1
}

it("takes about its share of requests, and each of them wholly", () => {
  const ids = Array.from({ length: 10_000 }, () => crypto.randomUUID())
  const taken = ids.filter((id) => isSampled(id, 0.1))
  expect(taken.length).toBeGreaterThan(800)
  expect(taken.length).toBeLessThan(1200)
  expect(taken.every((id) => isSampled(id, 0.1) && isSampled(id, 0.5))).toBe(true)
  expect(ids.every((id) => isSampled(id, 1))).toBe(true)
  expect(ids.some((id) => isSampled(id, 0))).toBe(false)
})

it.each<[LogLevel, LogFacts, boolean]>([
  ["info", { status: 200 }, false],
  ["info", { status: 404, code: "not_found" }, false],
  ["info", { status: 500 }, true],
  ["info", { error_code: null }, false],
  ["info", { error_code: "ffmpeg_failed" }, true],
  ["info", { error: "refused" }, true],
  ["warn", {}, true],
  ["error", {}, true],
])("of a request that is not in the sample, %s %j: %s", (level, facts, written) => {
  setLogSampleRate(0)
  expect(isWritten(level, { request_id: crypto.randomUUID(), ...facts })).toBe(written)
})

it("writes what is of no request", () => {
  setLogSampleRate(0)
  expect(isWritten("info", {})).toBe(true)
})
