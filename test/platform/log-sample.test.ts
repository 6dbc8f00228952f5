import { afterEach, expect, it, vi } from "vitest"
import { isRequestLogSampled } from "../../src/contract/log-line.ts"
import { log, setLogSampleRate } from "../../src/platform/log.ts"
import type { LogEventFields, LogLevel } from "../../src/contract/log-line.ts"

afterEach(() => {
  setLogSampleRate(1)
  vi.restoreAllMocks()
})

function isWritten(level: LogLevel, facts: LogEventFields): boolean {
  const spy = vi.spyOn(console, level).mockImplementation(() => undefined)
  log(level, "tested", facts)
  const { length } = spy.mock.calls
  spy.mockRestore()
  return length === 1
}

it("writes about the sampled share of requests, each of them completely", () => {
  const ids = Array.from({ length: 10_000 }, () => crypto.randomUUID())
  const taken = ids.filter((id) => isRequestLogSampled(id, 0.1))
  expect(taken.length).toBeGreaterThan(800)
  expect(taken.length).toBeLessThan(1200)
  expect(taken.every((id) => isRequestLogSampled(id, 0.1) && isRequestLogSampled(id, 0.5))).toBe(
    true,
  )
  expect(ids.every((id) => isRequestLogSampled(id, 1))).toBe(true)
  expect(ids.some((id) => isRequestLogSampled(id, 0))).toBe(false)
})

it.each<[LogLevel, LogEventFields, boolean]>([
  ["info", { status: 200 }, false],
  ["info", { status: 404, code: "not_found" }, false],
  ["info", { status: 500 }, true],
  ["info", { error_code: null }, false],
  ["info", { error_code: "ffmpeg_failed" }, true],
  ["info", { error: "refused" }, true],
  ["warn", {}, true],
  ["error", {}, true],
])("of a request outside the sample, %s %j: %s", (level, facts, written) => {
  setLogSampleRate(0)
  expect(isWritten(level, { request_id: crypto.randomUUID(), ...facts })).toBe(written)
})

it("writes entries without a request", () => {
  setLogSampleRate(0)
  expect(isWritten("info", {})).toBe(true)
})
