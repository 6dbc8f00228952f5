import { expect, test } from "vitest"
import { unstable_readConfig } from "wrangler"
import { z } from "zod"
import { settings } from "../../src/settings.ts"

const container = z.object({
  class_name: z.string(),
  max_instances: z.number(),
  rollout_active_grace_period: z.number(),
})

/** The configuration as wrangler reads it, so far as settings have to agree with it. */
function readConfig() {
  const config = unstable_readConfig({ config: "wrangler.toml" })
  const containers = z.array(container).parse(config.containers)
  return { vars: config.vars, containers }
}

test("the pool grants as many containers as the platform may start", () => {
  const { vars, containers } = readConfig()
  const media = containers.find(({ class_name }) => class_name === "MediaRunner")
  expect(Number(vars["RUNNER_INSTANCES"])).toBe(media?.max_instances)
})

test("a rollout leaves a container alone for as long as a command may run", () => {
  const longestSeconds = settings.shape.RUN_SECONDS_MAX.parse(undefined)
  for (const { rollout_active_grace_period } of readConfig().containers) {
    expect(rollout_active_grace_period).toBeGreaterThanOrEqual(longestSeconds)
  }
})
