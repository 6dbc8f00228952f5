import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { Log, LogLevel, Miniflare, convertV4MiniflareOptions, serializeConfig } from "miniflare"
import {
  unstable_getMiniflareWorkerOptions,
  unstable_readConfig,
  unstable_splitSqlQuery,
} from "wrangler"
import { z } from "zod"
import { settingNames, workerSecretNames } from "../../src/settings.ts"
import type { Migrations } from "../local/control.ts"
import type { RuntimeRecord } from "../local/runtime-record.ts"
import { adapt } from "./adapt.ts"
import { bundleD1, replaceD1 } from "./d1.ts"
import { patchMiniflare } from "./miniflare-patch.ts"
import { bundleRateLimit, replaceRateLimits } from "./rate-limit.ts"
import { findWorkerd } from "./find-workerd.ts"
import { logPatch } from "./log-patch.ts"
import { r2Patch } from "./r2-patch.ts"
import { bundleWorker } from "./worker.ts"
import { shrinkZod } from "./zod-in-english.ts"

const wranglerConfig = z.object({ vars: z.record(z.string(), z.coerce.string()) })

/** The module that Miniflare's simulators have Zod of. */
const ZOD = "miniflare:zod"

/** As many as a service on one machine may have; those that it does not use cost nothing. */
const DATABASES = ["DB", ...Array.from({ length: 7 }, (_, at) => `DB_${at + 2}`)]

/** Settings of wrangler.toml that suit Cloudflare alone: its log is paid for, and its edge bounds bodies. */
const OF_DEPLOYMENTS = new Set(["LOG_SAMPLE_RATE", "UPLOAD_BODY_BYTES_MAX"])

/** What workerd is started with. */
export type RuntimeBuild = {
  /** The configuration, as `workerd serve --binary` reads it. */
  config: Uint8Array
  record: RuntimeRecord
  /** Paths of the files that it was made of. */
  inputs: string[]
}

/** Modules that count what the service does: `worker` in the Worker, `database` as the object of D1. */
export type Counters = { worker: string; database: string }

/**
 * Makes workerd's configuration for the Worker of wrangler.toml from Miniflare's, whose simulators
 * of D1, R2 and queues it has. `folder` is an empty one for what comes about on the way.
 */
export async function buildRuntime(folder: string, counters?: Counters): Promise<RuntimeBuild> {
  // Else it warns of missing secrets, which each start gives.
  process.env["WRANGLER_LOG"] ??= "error"
  const { workerOptions, main, define } = unstable_getMiniflareWorkerOptions("wrangler.toml")
  if (main === undefined) throw new Error("wrangler.toml names no main")
  const { contents, inputs } = await bundleWorker(main, define, counters?.worker)
  const modules = [{ type: "ESModule" as const, path: "index.js", contents }]
  const state = join(folder, "state")
  const d1Databases = Object.fromEntries(DATABASES.map((name) => [name, { id: name }]))
  const captured = await captureConfig(folder, {
    cf: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.NONE),
    resourcePersistencePath: state,
    workers: [{ ...workerOptions, modules, d1Databases }],
  })
  // What wrangler read of this environment, of .env or .dev.vars is not to be kept.
  const { vars } = wranglerConfig.parse(unstable_readConfig({ config: "wrangler.toml" }))
  const names = [...Object.keys(vars), ...settingNames, ...workerSecretNames, "FRONT"]
  const variables = Object.fromEntries(
    Object.entries(vars).filter(([name]) => !OF_DEPLOYMENTS.has(name)),
  )
  const [d1, rateLimit] = await Promise.all([bundleD1(counters?.database), bundleRateLimit()])
  const own = replaceRateLimits(replaceD1(captured, d1), rateLimit)
  const { config, disks } = adapt(own, names)
  for (const module of (config.extensions ?? []).flatMap(({ modules = [] }) => modules)) {
    if (module.name === ZOD) module.esModule = await shrinkZod(module.esModule ?? "")
  }
  return {
    config: serializeConfig(config),
    record: { program: findWorkerd(), disks, variables, migrations: readMigrations("migrations") },
    inputs: [...inputs, ...d1.inputs, ...rateLimit.inputs, "wrangler.toml"],
  }
}

/** The SQL files of a folder as statements. */
function readMigrations(folder: string): Migrations {
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"))
  return names.toSorted().map((name) => ({
    name: basename(name),
    statements: unstable_splitSqlQuery(readFileSync(join(folder, name), "utf8")),
  }))
}

/** Has Miniflare write down what it would start workerd with, and start nothing. */
export async function captureConfig(
  folder: string,
  options: Parameters<typeof convertV4MiniflareOptions>[0],
): Promise<unknown> {
  patchMiniflare(r2Patch, logPatch)
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
