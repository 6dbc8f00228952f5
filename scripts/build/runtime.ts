import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, serializeConfig } from "miniflare"
import {
  unstable_getMiniflareWorkerOptions,
  unstable_readConfig,
  unstable_splitSqlQuery,
} from "wrangler"
import { z } from "zod"
import { settingNames, workerSecretNames } from "../../src/bindings/settings.ts"
import type { Migrations } from "../start/worker/control.ts"
import type { WorkerdBuild } from "../start/workerd-build.ts"
import { adaptMiniflareConfig } from "./adapt-config.ts"
import { bundleD1Modules, replaceMiniflareD1 } from "./d1.ts"
import { patchMiniflare } from "./miniflare-patch.ts"
import type { MiniflarePatch } from "./miniflare-patch.ts"
import { findWorkerdProgram } from "./find-workerd.ts"
import { miniflareR2Patch } from "./r2-patch.ts"
import { bundleWorker } from "./worker.ts"
import { removeZodLanguages } from "./zod-in-english.ts"
import { bundleModule } from "./programs.ts"
import type { ModuleBundle } from "./programs.ts"

const wranglerConfig = z.object({ vars: z.record(z.string(), z.coerce.string()) })

/**
 * Name of the workerd module that contains Zod, which Miniflare's simulators of R2 and queues
 * import.
 */
const ZOD = "miniflare:zod"

/**
 * Binding names of all D1 databases that a service on one machine can use. Databases that are not
 * used cost nothing.
 */
const DATABASES = ["DB", ...Array.from({ length: 7 }, (_, at) => `DB_${at + 2}`)]

/**
 * Settings of wrangler.toml that a service on one machine does not get, because they only reduce
 * costs of logs and R2 reads on Cloudflare, or meet Cloudflare's limit of request bodies.
 */
const OF_DEPLOYMENTS = new Set(["LOG_SAMPLE_RATE", "UPLOAD_BODY_BYTES_MAX", "OBJECT_CACHE_SECONDS"])

/** Result of building the runtime: all data that a start of workerd needs. */
export type RuntimeBuild = {
  /** Configuration in the binary format that `workerd serve --binary` reads. */
  config: Uint8Array
  record: WorkerdBuild
  /** Paths of the source files of the Worker and of the other modules. */
  inputs: string[]
}

/**
 * Paths of modules that count operations of a benchmarked service. `worker` is added to the Worker,
 * and `database` replaces the Durable Object of D1.
 */
export type OperationCounterPaths = { worker: string; database: string }

/**
 * Builds workerd's configuration for the Worker of wrangler.toml. Uses Miniflare's configuration
 * with its simulators of R2 and queues, and replaces D1 and the rate limits. `folder` is an empty
 * folder for temporary files.
 */
export async function buildRuntime(
  folder: string,
  counters?: OperationCounterPaths,
): Promise<RuntimeBuild> {
  // Suppresses wrangler's warnings about missing secrets, because each start of the service sets
  // the secrets.
  process.env["WRANGLER_LOG"] ??= "error"
  const { workerOptions, main, define } = unstable_getMiniflareWorkerOptions("wrangler.toml")
  // Removes Miniflare's server of static files, because a disk service of workerd serves the
  // documentation site; see adapt-config.ts.
  delete workerOptions["assets"]
  if (main === undefined) throw new Error("wrangler.toml names no main")
  const { contents, inputs } = await bundleWorker(main, define, counters?.worker)
  const modules = [{ type: "ESModule" as const, path: "index.js", contents }]
  const state = join(folder, "state")
  const d1Databases = Object.fromEntries(DATABASES.map((name) => [name, { id: name }]))
  const captured = await captureMiniflareConfig(folder, {
    cf: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.NONE),
    resourcePersistencePath: state,
    workers: [{ ...workerOptions, modules, d1Databases }],
  })
  // Reads the variables of wrangler.toml without wrangler, because wrangler adds values from the
  // environment, .env and .dev.vars.
  const { vars } = wranglerConfig.parse(unstable_readConfig({ config: "wrangler.toml" }))
  const names = [...Object.keys(vars), ...settingNames, ...workerSecretNames, "FRONT"]
  const variables = Object.fromEntries(
    Object.entries(vars).filter(([name]) => !OF_DEPLOYMENTS.has(name)),
  )
  const [d1, rateLimit] = await Promise.all([
    bundleD1Modules(counters?.database),
    bundleRateLimit(),
  ])
  const own = replaceRateLimits(replaceMiniflareD1(captured, d1), rateLimit)
  const { config, disks } = adaptMiniflareConfig(own, names)
  for (const module of (config.extensions ?? []).flatMap(({ modules = [] }) => modules)) {
    if (module.name === ZOD) module.esModule = await removeZodLanguages(module.esModule ?? "")
  }
  return {
    config: serializeConfig(config),
    record: {
      program: findWorkerdProgram(),
      disks,
      variables,
      migrations: readMigrations("migrations"),
    },
    inputs: [...inputs, ...d1.inputs, ...rateLimit.inputs, "wrangler.toml"],
  }
}

/** Reads the SQL files of a folder, and splits each file into statements. */
function readMigrations(folder: string): Migrations {
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"))
  return names.toSorted().map((name) => ({
    name: basename(name),
    statements: unstable_splitSqlQuery(readFileSync(join(folder, name), "utf8")),
  }))
}

/**
 * Returns the configuration with which Miniflare would start workerd. Makes Miniflare start a
 * script that only reads the configuration, in place of workerd.
 */
export async function captureMiniflareConfig(
  folder: string,
  options: Parameters<typeof convertV4MiniflareOptions>[0],
): Promise<unknown> {
  patchMiniflare(miniflareR2Patch, simulatorWarningsPatch)
  mkdirSync(folder, { recursive: true })
  const nothing = join(folder, "nothing")
  writeFileSync(nothing, "#!/bin/sh\ncat >/dev/null\n", { mode: 0o700 })
  const path = join(folder, "config.json")
  process.env["MINIFLARE_WORKERD_PATH"] = nothing
  process.env["MINIFLARE_WORKERD_CONFIG_DEBUG"] = path
  const miniflare = new Miniflare(convertV4MiniflareOptions(options))
  await miniflare.ready.catch(() => undefined)
  await miniflare.dispose().catch(() => undefined)
  return JSON.parse(readFileSync(path, "utf8"))
}

/**
 * Patch that makes Miniflare's simulators also print their warnings by `console.warn`. The
 * simulators still send the warnings to Miniflare's server.
 */
export const simulatorWarningsPatch: MiniflarePatch = {
  worker: "shared",
  path: /[\\/]shared[\\/]index\.worker\.js$/,
  edits: [
    {
      from: "  async logWithLevel(level, message) {\n",
      to:
        "  async logWithLevel(level, message) {\n" +
        "    if (level <= LogLevel.WARN) console.warn(message);\n",
      times: 1,
    },
  ],
  additions: "",
}

/** Name of the workerd module that makes a rate limit binding. */
const BINDING = "lathe:rate-limit"
const MINIFLARES = "cloudflare-internal:ratelimit:module"

const binding = z.looseObject({
  wrapped: z
    .looseObject({
      moduleName: z.string(),
      innerBindings: z.array(z.looseObject({ name: z.string() })),
    })
    .optional(),
})
const worker = z.looseObject({ bindings: z.array(binding).default([]) })
const captured = z.looseObject({
  services: z.array(z.looseObject({ worker: worker.optional() })),
  extensions: z.array(z.unknown()),
})

/** Bundles the workerd module that makes a rate limit binding. */
async function bundleRateLimit(): Promise<ModuleBundle> {
  return await bundleModule("scripts/start/worker/address-limit-binding.ts")
}

/**
 * Replaces the rate limits of Miniflare's configuration by rate limits that count in memory,
 * because Miniflare's rate limits write each count to a file (docs/decisions/0049).
 */
function replaceRateLimits(options: unknown, bundle: ModuleBundle): unknown {
  const { services, extensions, ...rest } = captured.parse(options)
  return {
    ...rest,
    services: services.map((each) => {
      if (!each.worker) return each
      return { ...each, worker: { ...each.worker, bindings: each.worker.bindings.map(asOwn) } }
    }),
    extensions: [
      ...extensions,
      { modules: [{ name: BINDING, internal: true, esModule: bundle.contents }] },
    ],
  }
}

function asOwn(each: z.infer<typeof binding>): z.infer<typeof binding> {
  if (each.wrapped?.moduleName !== MINIFLARES) return each
  const numbers = each.wrapped.innerBindings.filter(({ name }) => name !== "fetcher")
  const wrapped = {
    moduleName: BINDING,
    entrypoint: "makeRateLimitBinding",
    innerBindings: numbers,
  }
  return { ...each, wrapped }
}
