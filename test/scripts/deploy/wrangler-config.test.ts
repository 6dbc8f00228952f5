import { expect, test } from "vitest"
import { unstable_readConfig } from "wrangler"
import { z } from "zod"
import { deriveConfig, queuesOf } from "../../../scripts/deploy/config.ts"
import type { Config } from "../../../scripts/deploy/config.ts"
import { POOLS, instancesMax } from "../../../src/runner/pools.ts"
import { settings } from "../../../src/settings.ts"

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
  "the platform may start half as many containers again as the pool %s has slots",
  (_, { className, instances }) => {
    const container = containers.find(({ class_name }) => class_name === className)
    expect(container?.max_instances).toBe(instancesMax(vars[instances] ?? 0))
  },
)

test("a rollout leaves a container alone for as long as a command may run", () => {
  const longestSeconds = settings.shape.RUN_SECONDS_MAX.parse(undefined)
  expect(containers).toHaveLength(Object.keys(POOLS).length)
  for (const { rollout_active_grace_period } of containers) {
    expect(rollout_active_grace_period).toBeGreaterThanOrEqual(longestSeconds)
  }
})

test("only containers that transcribe carry models, and those that the Worker offers", () => {
  const vars = { WHISPER_MODEL: "tiny.en", WHISPER_MODELS: "base", RUNNER_INSTANCES: "3" }
  const { containers } = deriveConfig({ name: "lathe", vars })
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

test("deployments of one account share nothing that is named, their metrics included", () => {
  const named = deriveConfig({ name: "my-media", vars: {} })
  const shared = new Set(namesOf(deriveConfig({ name: "lathe", vars: {} })))
  expect(namesOf(named).filter((name) => shared.has(name))).toEqual([])
  expect(named.analytics_engine_datasets).toMatchObject([{ dataset: "my_media" }])
})

test("the numbers of rate limits are whole numbers below 2^31, as Cloudflare has them", () => {
  const names = Array.from({ length: 64 }, (_, at) => `media-${at}`)
  const ids = names.map(
    (name) => deriveConfig({ name, vars: {} }).ratelimits[0]?.namespace_id ?? "",
  )
  for (const id of ids) expect(id).toMatch(/^[1-9]\d{0,9}$/)
  expect(Math.max(...ids.map(Number))).toBeLessThan(2 ** 31)
  expect(new Set(ids).size).toBe(names.length)
})

function namesOf(derived: Config): string[] {
  return [
    derived.analytics_engine_datasets.map(({ dataset }) => dataset),
    derived.containers.map(({ name }) => name),
    derived.d1_databases.map(({ database_name }) => database_name),
    derived.ratelimits.map(({ namespace_id }) => namespace_id),
    derived.r2_buckets.map(({ bucket_name }) => bucket_name),
    queuesOf(derived),
  ].flat()
}
