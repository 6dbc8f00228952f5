import { expect, test } from "vitest"
import { callerFailure } from "../../../../container/failures.ts"
import { needsMoreRoom } from "../../../../container/tasks/render/judge-failure.ts"

test.for([
  ["out_of_memory", true],
  ["process_limit", true],
  ["time_limit", false],
  ["command_failed", false],
] as const)("a group that failed with %s is made one by one: %s", ([code, expected]) => {
  const failed = callerFailure(code, "It failed.")
  expect(needsMoreRoom(failed)).toBe(expected)
  expect(needsMoreRoom({ ...failed, blame: "ours" })).toBe(false)
})
