import { expect, test } from "vitest"
import { unstable_readConfig } from "wrangler"
import { z } from "zod"
import { deriveWranglerConfig, listConfiguredQueueNames } from "../../../scripts/deploy/config.ts"
import type { WranglerConfig } from "../../../scripts/deploy/config.ts"
import { POOLS, computeContainerInstancesMax } from "../../../src/bindings/pools.ts"
import { settingsSchema } from "../../../src/bindings/settings.ts"

const config = z.object({
  vars: z.record(z.string(), z.coerce.number()),
  containers: z.array(
    z.object({
      class_name: z.string(),
      max_instances: z.number(),
      rollout_active_grace_period: z.number(),
    }),
  ),
})

const { vars, containers } = config.parse(unstable_readConfig({ config: "wrangler.toml" }))

test.each(Object.entries(POOLS))(
  "the maximum of containers is 1.5 times the slots of the pool %s",
  (_, { className, instances }) => {
    const container = containers.find(({ class_name }) => class_name === className)
    expect(container?.max_instances).toBe(computeContainerInstancesMax(vars[instances] ?? 0))
  },
)

test("a rollout waits for a container as long as a command may run", () => {
  const longestSeconds = settingsSchema.shape.RUN_SECONDS_MAX.parse(undefined)
  expect(containers).toHaveLength(Object.keys(POOLS).length)
  for (const { rollout_active_grace_period } of containers) {
    expect(rollout_active_grace_period).toBeGreaterThanOrEqual(longestSeconds)
  }
})

test("only containers that transcribe have models, which are those that the Worker offers", () => {
  const vars = { WHISPER_MODEL: "tiny.en", WHISPER_MODELS: "base", RUNNER_INSTANCES: "3" }
  const { containers } = deriveWranglerConfig({ name: "lathe", vars })
  const carried = containers.map(({ class_name, image_vars }) => [class_name, image_vars])
  const models = { WHISPER_MODEL: "tiny.en", WHISPER_MODELS: "base" }
  expect(Object.fromEntries(carried)).toEqual({
    MediaRunner: { SPEECH: "without" },
    LightRunner: { SPEECH: "without" },
    FetchRunner: { SPEECH: "without" },
    LookupRunner: { SPEECH: "without" },
    SpeechRunner: models,
  })
})

test("deployments of one account share no named resource, including metrics", () => {
  const named = deriveWranglerConfig({ name: "my-media", vars: {} })
  const shared = new Set(namesOf(deriveWranglerConfig({ name: "lathe", vars: {} })))
  expect(namesOf(named).filter((name) => shared.has(name))).toEqual([])
  expect(named.analytics_engine_datasets).toMatchObject([{ dataset: "my_media" }])
})

test("namespace ids of rate limits are whole numbers below 2^31", () => {
  const names = Array.from({ length: 64 }, (_, at) => `media-${at}`)
  const ids = names.map(
    (name) => deriveWranglerConfig({ name, vars: {} }).ratelimits[0]?.namespace_id ?? "",
  )
  for (const id of ids) expect(id).toMatch(/^[1-9]\d{0,9}$/)
  expect(Math.max(...ids.map(Number))).toBeLessThan(2 ** 31)
  expect(new Set(ids).size).toBe(names.length)
})

function namesOf(derived: WranglerConfig): string[] {
  return [
    derived.analytics_engine_datasets.map(({ dataset }) => dataset),
    derived.containers.map(({ name }) => name),
    derived.d1_databases.map(({ database_name }) => database_name),
    derived.ratelimits.map(({ namespace_id }) => namespace_id),
    derived.r2_buckets.map(({ bucket_name }) => bucket_name),
    listConfiguredQueueNames(derived),
  ].flat()
}
