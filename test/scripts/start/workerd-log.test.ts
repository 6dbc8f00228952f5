import { expect, test } from "vitest"
import { z } from "zod"
import { makeWorkerdLogger } from "../../../scripts/start/workerd.ts"

const entry = z.object({ level: z.string(), part: z.literal("worker"), message: z.string() })

/** Output for these lines of one workerd. */
function printed(...lines: string[]): string[] {
  const said: string[] = []
  const pass = makeWorkerdLogger((line) => said.push(line))
  for (const line of lines) pass(line)
  return said
}

function entriesOf(...lines: string[]) {
  return printed(...lines).map((line) => {
    const { level, message } = entry.parse(JSON.parse(line))
    return [level, message]
  })
}

function structured(level: string, message: string): string {
  return JSON.stringify({ timestamp: 1, level, message })
}

test("an entry of the Worker is passed on unchanged, whatever level workerd assigns", () => {
  const own = '{"time":"2026-01-01T00:00:00.000Z","level":"warn","event":"job.failed"}'
  expect(printed(structured("log", own))).toEqual([own])
})

test("any other line becomes an entry with its level", () => {
  expect(
    entriesOf(
      structured("error", "no such table"),
      structured("warn", "a queue is slow"),
      structured("debug", "hm"),
      structured("log", "hello"),
      "a line that has no structure",
    ),
  ).toEqual([
    ["error", "no such table"],
    ["warn", "a queue is slow"],
    ["debug", "hm"],
    ["info", "hello"],
    ["info", "a line that has no structure"],
  ])
})

test("a line of JSON that is no entry of workerd is passed on unchanged", () => {
  expect(entriesOf("null", "[1]", '{"level":1,"message":2}')).toEqual([
    ["info", "null"],
    ["info", "[1]"],
    ["info", '{"level":1,"message":2}'],
  ])
})

test("internal lines of workerd are dropped unless something fails", () => {
  expect(
    printed(
      "Not symbolizing stack traces because $LLVM_SYMBOLIZER is not set.",
      structured("warn", "took recursive isolate lock"),
      "stack: 55d5c0ffee01 55d5c0ffee02 0 55d5c0ffee03",
    ),
  ).toEqual([])
})

test("the last lines of a workerd that crashes are errors, including its stack", () => {
  const crash = "*** Received signal #11: Segmentation fault"
  const stack = "stack: 55d5c0ffee01 55d5c0ffee02 0 55d5c0ffee03"
  expect(entriesOf("before", crash, stack)).toEqual([
    ["info", "before"],
    ["error", crash],
    ["error", stack],
  ])
})
