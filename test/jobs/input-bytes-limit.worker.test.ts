import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import type { Env } from "../../src/bindings/env.ts"
import { PLAN_LIMITS } from "../../src/domain/plans.ts"
import { findInputBytesLimit } from "../../src/jobs/input-bytes-limit.ts"

const GB = 1000 ** 3

/** Returns the environment of a deployment with containers. */
function deployed(settings: Partial<Env> = {}): Env {
  const { RUNNER_ORIGIN: _, ...others } = env
  return { ...others, RUNNER_ORIGIN: undefined, ...settings }
}

test("inputs are limited by the disk of their containers if that is smaller than the plan", async () => {
  const large = await findInputBytesLimit(deployed(), PLAN_LIMITS.paid, ["media"])
  expect(large.boundBy).toBe("disk")
  expect(large.bytesMax).toBeGreaterThan(18 * GB)
  expect(large.bytesMax).toBeLessThan(19 * GB)
  const lite = deployed({ RUNNER_INSTANCE_TYPE: "lite" })
  const small = await findInputBytesLimit(lite, PLAN_LIMITS.paid, ["media"])
  expect(small.bytesMax).toBeLessThan(1 * GB)
  const both = await findInputBytesLimit(deployed(), PLAN_LIMITS.paid, ["media", "speech"])
  expect(both).toEqual(await findInputBytesLimit(deployed(), PLAN_LIMITS.paid, ["speech"]))
  expect(both.bytesMax).toBeLessThan(11 * GB)
})

test("inputs are limited by the plan if that is smaller than the disk", async () => {
  const bytesMax = PLAN_LIMITS.trial.inputBytesMax
  expect(await findInputBytesLimit(deployed(), PLAN_LIMITS.trial, ["media"])).toEqual({
    bytesMax,
    boundBy: "plan",
  })
})
