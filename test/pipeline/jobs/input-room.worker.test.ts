import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import type { Env } from "../../../src/env.ts"
import { LIMITS } from "../../../src/plans.ts"
import { findInputRoom } from "../../../src/pipeline/jobs/input-room.ts"

const GB = 1000 ** 3

/** The environment of a deployment whose runners are containers. */
function deployed(settings: Partial<Env> = {}): Env {
  const { RUNNER_ORIGIN: _, ...others } = env
  return { ...others, RUNNER_ORIGIN: undefined, ...settings }
}

test("inputs are bound by the disk of the containers that work on them where that is less than the plan", async () => {
  const large = await findInputRoom(deployed(), LIMITS.paid, ["media"])
  expect(large.boundBy).toBe("disk")
  expect(large.bytesMax).toBeGreaterThan(18 * GB)
  expect(large.bytesMax).toBeLessThan(19 * GB)
  const small = await findInputRoom(deployed({ RUNNER_INSTANCE_TYPE: "lite" }), LIMITS.paid, [
    "media",
  ])
  expect(small.bytesMax).toBeLessThan(1 * GB)
  const both = await findInputRoom(deployed(), LIMITS.paid, ["media", "speech"])
  expect(both).toEqual(await findInputRoom(deployed(), LIMITS.paid, ["speech"]))
  expect(both.bytesMax).toBeLessThan(11 * GB)
})

test("inputs are bound by the plan where that is less than the disk", async () => {
  const bytesMax = LIMITS.trial.inputBytesMax
  expect(await findInputRoom(deployed(), LIMITS.trial, ["media"])).toEqual({
    bytesMax,
    boundBy: "plan",
  })
})
