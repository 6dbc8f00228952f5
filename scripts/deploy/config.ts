import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { crc32 } from "node:zlib"
import { experimental_readRawConfig } from "wrangler"
import { z } from "zod"
import { REGIONS } from "../../src/regions.ts"
import { POOLS, instancesMax } from "../../src/runner/pools.ts"
import { settings } from "../../src/settings.ts"
import { writeStateFile } from "../local/state-folder.ts"
import type { WorkerVariables } from "./settings.ts"

/** Root of the repository, which wrangler.toml's paths are relative to. */
export const CLONE = resolve(import.meta.dirname, "../..")
export const CONFIG_OF_CLONE = join(CLONE, "wrangler.toml")
const NAME_IN_CONFIG = "lathe"

// Its types are in a package that wrangler does not install.
const readRawConfig = z
  .custom<(place: { config: string }) => { rawConfig: unknown }>((it) => typeof it === "function")
  .parse(experimental_readRawConfig)

const container = z.looseObject({
  name: z.string(),
  class_name: z.string(),
  image: z.string(),
  image_build_context: z.string().optional(),
  image_vars: z.record(z.string(), z.string()).optional(),
  instance_type: z.json().optional(),
  max_instances: z.number().optional(),
  constraints: z.looseObject({ regions: z.array(z.string()).optional() }).optional(),
})

const config = z.looseObject({
  name: z.string(),
  account_id: z.string().optional(),
  main: z.string(),
  vars: z.record(z.string(), z.json()).default({}),
  d1_databases: z.array(
    z.looseObject({
      binding: z.string(),
      database_name: z.string(),
      database_id: z.string().optional(),
      migrations_dir: z.string(),
    }),
  ),
  r2_buckets: z.array(z.looseObject({ bucket_name: z.string() })),
  ratelimits: z.array(z.looseObject({ name: z.string(), namespace_id: z.string() })),
  analytics_engine_datasets: z.array(z.looseObject({ dataset: z.string() })).default([]),
  queues: z.looseObject({
    producers: z.array(z.looseObject({ queue: z.string() })),
    consumers: z.array(
      z.looseObject({ queue: z.string(), dead_letter_queue: z.string().optional() }),
    ),
  }),
  containers: z.array(container),
})

export type Config = z.infer<typeof config>

/** The settings that wrangler.toml has. */
export function settingsOfClone(): WorkerVariables {
  return readConfigOfClone().vars
}

/** wrangler.toml as `wrangler deploy` reads it. */
export function readConfigOfClone(): Config {
  const { rawConfig } = readRawConfig({ config: CONFIG_OF_CLONE })
  return config.parse(rawConfig)
}

/** Cloudflare takes the number of a rate limit as a positive integer of 32 bits with a sign. */
const NAMESPACE_IDS = 2 ** 31

/** What is deployed: wrangler.toml with the deployment's names, settings and absolute paths. */
export function deriveConfig(deployment: {
  name: string
  vars: WorkerVariables
  accountId?: string
  databaseIds?: Readonly<Record<string, string>>
  hasAnalytics?: boolean
}): Config {
  const { name, vars, accountId, databaseIds = {}, hasAnalytics = true } = deployment
  const source = readConfigOfClone()
  const domain = vars["LATHE_DOMAIN"]
  return {
    ...source,
    // The step prepares a deployment of wrangler.toml itself.
    build: undefined,
    name,
    main: resolve(CLONE, source.main),
    vars,
    ...(accountId !== undefined && { account_id: accountId }),
    ...(domain !== undefined && { routes: [{ pattern: domain, custom_domain: true }] }),
    d1_databases: databasesFor(source, vars).map((database) => {
      const databaseName = renamed(database.database_name, name)
      const id = databaseIds[databaseName]
      return {
        ...database,
        database_name: databaseName,
        ...(id !== undefined && { database_id: id }),
        migrations_dir: resolve(CLONE, database.migrations_dir),
      }
    }),
    r2_buckets: source.r2_buckets.map((bucket) => ({
      ...bucket,
      bucket_name: renamed(bucket.bucket_name, name),
    })),
    ratelimits: source.ratelimits.map((one) => ({
      ...one,
      // A number is all that tells the counts of a deployment from those of another.
      namespace_id: String(crc32(`${name} ${one.name}`) % NAMESPACE_IDS),
    })),
    analytics_engine_datasets: hasAnalytics ? datasetsFor(source, name) : [],
    queues: {
      ...source.queues,
      producers: source.queues.producers.map((queue) => ({
        ...queue,
        queue: renamed(queue.queue, name),
      })),
      consumers: source.queues.consumers.map((consumer) => ({
        ...consumer,
        queue: renamed(consumer.queue, name),
        ...(consumer.dead_letter_queue !== undefined && {
          dead_letter_queue: renamed(consumer.dead_letter_queue, name),
        }),
      })),
    },
    containers: source.containers.map((one) => deriveContainer(one, name, vars)),
  }
}

/** The database of wrangler.toml, and as many like it, numbered from 2, as the settings say. */
function databasesFor({ d1_databases: [first] }: Config, vars: WorkerVariables) {
  if (!first) throw new Error("wrangler.toml names no database")
  return Array.from({ length: Number(vars["DATABASES"] ?? 1) }, (_, at) => {
    if (at === 0) return first
    const { binding, database_name: name } = first
    return { ...first, binding: `${binding}_${at + 1}`, database_name: `${name}-${at + 1}` }
  })
}

/** Queries name a dataset, and a name in SQL has no hyphens. */
function datasetsFor({ analytics_engine_datasets: datasets }: Config, name: string) {
  return datasets.map((one) => ({
    ...one,
    dataset: renamed(one.dataset, name).replaceAll("-", "_"),
  }))
}

/** Names of all queues of a configuration, each once. */
export function queuesOf({ queues: { producers, consumers } }: Config): string[] {
  const names = [
    ...producers.map(({ queue }) => queue),
    ...consumers.flatMap(({ queue, dead_letter_queue }) => [queue, dead_letter_queue ?? queue]),
  ]
  return [...new Set(names)]
}

/** The region of a deployment's settings; null where they name none. */
export function regionOf(vars: WorkerVariables) {
  const { data } = settings.shape.REGION.safeParse(vars["REGION"])
  return data === undefined ? null : REGIONS[data]
}

/** Whether the databases of a deployment have replicas, as Cloudflare words it. */
export function replicasOf(vars: WorkerVariables): "auto" | "disabled" {
  return vars["D1_REPLICAS"] === "disabled" ? "disabled" : "auto"
}

/** Writes a configuration to a file for wrangler; returns its path. */
export function writeConfig(stateDir: string, name: string, value: Config): string {
  const names = ["deploy", name, "wrangler.json"]
  return writeStateFile(stateDir, names, `${JSON.stringify(value, null, 2)}\n`)
}

function deriveContainer(
  source: z.infer<typeof container>,
  name: string,
  vars: WorkerVariables,
): z.infer<typeof container> {
  const pool = Object.values(POOLS).find(({ className }) => className === source.class_name)
  const type = pool && vars[pool.instanceTypeSetting]
  const instances = pool && vars[pool.instances]
  const { image_build_context: context, image_vars: imageVars } = source
  const models = pool === POOLS.speech ? speechModels(vars) : {}
  const region = regionOf(vars)
  const imagePath = resolve(CLONE, source.image)
  return {
    ...source,
    name: renamed(source.name, name),
    image: existsSync(imagePath) ? imagePath : source.image,
    ...(context !== undefined && { image_build_context: resolve(CLONE, context) }),
    ...(Object.keys(models).length > 0 && { image_vars: { ...imageVars, ...models } }),
    ...(type !== undefined && { instance_type: type }),
    ...(instances !== undefined && { max_instances: instancesMax(Number(instances)) }),
    ...(region && { constraints: { ...source.constraints, regions: [region.containers] } }),
  }
}

/** The image is built with the models that the Worker offers. */
function speechModels(vars: WorkerVariables): Record<string, string> {
  return Object.fromEntries(
    ["WHISPER_MODEL", "WHISPER_MODELS"].flatMap((name) => {
      const { [name]: value } = vars
      return typeof value === "string" ? [[name, value]] : []
    }),
  )
}

function renamed(text: string, name: string): string {
  return text.replace(new RegExp(`^${NAME_IN_CONFIG}(?=-|$)`), name)
}
