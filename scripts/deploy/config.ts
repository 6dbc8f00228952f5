import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { crc32 } from "node:zlib"
import { experimental_readRawConfig } from "wrangler"
import { z } from "zod"
import { REGIONS } from "../../src/bindings/regions.ts"
import { POOLS, computeContainerInstancesMax } from "../../src/bindings/pools.ts"
import { settingsSchema } from "../../src/bindings/settings.ts"
import { writeStateFile } from "../cli/state-folder.ts"
import type { WorkerVariables } from "./settings.ts"

/** Root folder of this clone, to which the paths in wrangler.toml are relative. */
export const CLONE_FOLDER = resolve(import.meta.dirname, "../..")
export const WRANGLER_CONFIG_PATH = join(CLONE_FOLDER, "wrangler.toml")
const NAME_IN_CONFIG = "lathe"

// Declares the type of wrangler's function, because wrangler installs no package that declares the
// type.
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
  assets: z.looseObject({ directory: z.string() }),
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

export type WranglerConfig = z.infer<typeof config>

/** Returns the settings in the `vars` of wrangler.toml. */
export function readWranglerSettings(): WorkerVariables {
  return readWranglerConfig().vars
}

/** Reads wrangler.toml as `wrangler deploy` does. */
export function readWranglerConfig(): WranglerConfig {
  const { rawConfig } = readRawConfig({ config: WRANGLER_CONFIG_PATH })
  return config.parse(rawConfig)
}

/**
 * Modulus of the hash from which a rate limit's namespace id is made, because Cloudflare accepts
 * only positive signed integers of 32 bits.
 */
const NAMESPACE_IDS = 2 ** 31

/**
 * Derives the configuration to deploy: wrangler.toml with the deployment's names, settings and
 * absolute paths.
 */
export function deriveWranglerConfig(deployment: {
  name: string
  vars: WorkerVariables
  accountId?: string
  databaseIds?: Readonly<Record<string, string>>
  hasAnalytics?: boolean
}): WranglerConfig {
  const { name, vars, accountId, databaseIds = {}, hasAnalytics = true } = deployment
  const source = readWranglerConfig()
  const domain = vars["LATHE_DOMAIN"]
  return {
    ...source,
    // Removes the build command, which prepares the account only if a user calls `wrangler deploy`
    // without `npm run deploy`.
    build: undefined,
    name,
    main: resolve(CLONE_FOLDER, source.main),
    assets: { ...source.assets, directory: resolve(CLONE_FOLDER, source.assets.directory) },
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
        migrations_dir: resolve(CLONE_FOLDER, database.migrations_dir),
      }
    }),
    r2_buckets: source.r2_buckets.map((bucket) => ({
      ...bucket,
      bucket_name: renamed(bucket.bucket_name, name),
    })),
    ratelimits: source.ratelimits.map((one) => ({
      ...one,
      // Derives the namespace id from the deployment's name, because deployments with the same id
      // would count requests together.
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

/**
 * Returns the D1 databases of the configuration: the database of wrangler.toml, and copies of its
 * entry with numbers from 2 up to the setting DATABASES.
 */
function databasesFor({ d1_databases: [first] }: WranglerConfig, vars: WorkerVariables) {
  if (!first) throw new Error("wrangler.toml names no database")
  return Array.from({ length: Number(vars["DATABASES"] ?? 1) }, (_, at) => {
    if (at === 0) return first
    const { binding, database_name: name } = first
    return { ...first, binding: `${binding}_${at + 1}`, database_name: `${name}-${at + 1}` }
  })
}

/**
 * Returns the Analytics Engine datasets, whose names contain the deployment's name. Replaces
 * hyphens in the names, because SQL queries use the names without quotes.
 */
function datasetsFor({ analytics_engine_datasets: datasets }: WranglerConfig, name: string) {
  return datasets.map((one) => ({
    ...one,
    dataset: renamed(one.dataset, name).replaceAll("-", "_"),
  }))
}

/** Returns the names of all queues of a configuration, each once. */
export function listConfiguredQueueNames({
  queues: { producers, consumers },
}: WranglerConfig): string[] {
  const names = [
    ...producers.map(({ queue }) => queue),
    ...consumers.flatMap(({ queue, dead_letter_queue }) => [queue, dead_letter_queue ?? queue]),
  ]
  return [...new Set(names)]
}

/** Returns the region of a deployment's settings. Returns null if the settings name no region. */
export function findDeploymentRegion(vars: WorkerVariables) {
  const { data } = settingsSchema.shape.REGION.safeParse(vars["REGION"])
  return data === undefined ? null : REGIONS[data]
}

/** Returns Cloudflare's mode of read replication for the databases of a deployment. */
export function findD1ReplicationMode(vars: WorkerVariables): "auto" | "disabled" {
  return vars["D1_REPLICAS"] === "disabled" ? "disabled" : "auto"
}

/** Writes a configuration file for wrangler. Returns the path of the file. */
export function writeWranglerConfig(stateDir: string, name: string, value: WranglerConfig): string {
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
  const region = findDeploymentRegion(vars)
  const imagePath = resolve(CLONE_FOLDER, source.image)
  return {
    ...source,
    name: renamed(source.name, name),
    image: existsSync(imagePath) ? imagePath : source.image,
    ...(context !== undefined && { image_build_context: resolve(CLONE_FOLDER, context) }),
    ...(Object.keys(models).length > 0 && { image_vars: { ...imageVars, ...models } }),
    ...(type !== undefined && { instance_type: type }),
    ...(instances !== undefined && {
      max_instances: computeContainerInstancesMax(Number(instances)),
    }),
    ...(region && { constraints: { ...source.constraints, regions: [region.containers] } }),
  }
}

/** Returns the settings that name speech models, because the image is built with those models. */
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
