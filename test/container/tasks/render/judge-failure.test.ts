import { expect, test } from "vitest"
import { createCallerFailure } from "../../../../container/task-failure.ts"
import { isEncodeLimitFailure } from "../../../../container/tasks/render/encode-renditions.ts"

test.for([
  ["out_of_memory", true],
  ["process_limit", true],
  ["time_limit", false],
  ["command_failed", false],
] as const)("after %s a group is divided: %s", ([code, expected]) => {
  const failed = createCallerFailure(code, "It failed.")
  expect(isEncodeLimitFailure(failed)).toBe(expected)
  expect(isEncodeLimitFailure({ ...failed, blame: "ours" })).toBe(false)
})
