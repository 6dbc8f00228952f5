import { basename } from "node:path"
import { kVoid } from "miniflare"
import type { serializeConfig } from "miniflare"
import { z } from "zod"

/** Schema of the workerd configuration that Miniflare builds. */
type Config = Parameters<typeof serializeConfig>[0]

const binding = z.looseObject({ name: z.string(), text: z.string().optional() })

const worker = z.looseObject({
  bindings: z.array(binding).default([]),
  durableObjectStorage: z.record(z.string(), z.unknown()).optional(),
})

const service = z.looseObject({
  name: z.string(),
  worker: worker.optional(),
  disk: z.looseObject({ path: z.string() }).optional(),
})

const captured = z.looseObject({
  services: z.array(service),
  extensions: z.array(z.looseObject({ modules: z.array(z.looseObject({ name: z.string() })) })),
})

type Service = z.infer<typeof service>

/** Name that Miniflare gives to the workerd service of the Worker. */
const MAIN = "core:user:"
/** Name of the binding to Miniflare's own HTTP server, which does not run with workerd alone. */
const LOOPBACK = "MINIFLARE_LOOPBACK"

/**
 * Names of workerd's external services, by the Worker's bindings to these services. An external
 * service forwards requests to a socket of the start script or to the runner's port. Each start of
 * the service sets the addresses.
 */
const WAYS_OUT = { RUNNER: "runner", S3: "stores", DISK: "disk", MAILS: "mails" }
/**
 * Names of the binding to the files of the documentation site, and of workerd's disk service that
 * serves these files.
 */
const SITE = { binding: "ASSETS", service: "site" }
/**
 * Name of the external service for outgoing requests that use no binding of `WAYS_OUT`. Requests to
 * this service and to `stores` (S3 servers) have the full URL as their target, as requests to an
 * HTTP proxy do.
 */
const OUTBOUND = "outbound"

/**
 * Flags with which V8 collects garbage early. Memory that workerd allocates for requests is freed
 * only by a full collection, which V8 would first run at hundreds of MiB (docs/decisions/0040).
 */
const V8_FLAGS = ["--initial-old-space-size=4", "--max-semi-space-size=8"]

const PROXY_STYLE = 1
const config = z.custom<Config>()

/**
 * Turns Miniflare's configuration of one Worker into a configuration that runs without Miniflare.
 * Makes workerd read the variables and secrets in `names` from its environment, leaves the
 * addresses of external services to each start, and removes services that the Worker does not use.
 */
export function adaptMiniflareConfig(
  given: unknown,
  names: readonly string[],
): { config: Config; disks: Record<string, string> } {
  const { services, extensions, ...rest } = captured.parse(given)
  const main = services.find(({ name }) => name === MAIN)?.worker
  if (!main) throw new Error(`Miniflare's configuration has no ${MAIN}`)
  const adapted = {
    ...main,
    bindings: [
      ...main.bindings.filter(({ text }) => text === undefined),
      ...[...new Set(names)].map((name) => ({ name, fromEnvironment: name })),
      ...Object.entries(WAYS_OUT).map(([name, way]) => ({ name, service: { name: way } })),
      { name: SITE.binding, service: { name: SITE.service } },
    ],
    globalOutbound: { name: OUTBOUND },
    // Removes the services for the Cache API, which the Worker does not use, and for containers,
    // which the Worker uses on Cloudflare only.
    cacheApiOutbound: undefined,
    containerEngine: undefined,
  }
  const others = services.map((each) => (each.name === MAIN ? { ...each, worker: adapted } : each))
  const used = usedServices(others).map(withoutMiniflare)
  const disks: Record<string, string> = {}
  for (const { name, disk } of used) if (disk) disks[name] = basename(disk.path)
  return {
    config: config.parse({
      ...rest,
      services: [
        ...used,
        ...waysOut(),
        { name: SITE.service, disk: { writable: false } },
        { name: "internet", network: { allow: [] } },
      ],
      extensions: usedExtensions(extensions, JSON.stringify(used)),
      sockets: [
        { name: "worker", service: { name: MAIN }, http: {} },
        { name: "callers", service: { name: MAIN, entrypoint: "callers" }, http: {} },
        { name: "control", service: { name: MAIN, entrypoint: "control" }, http: {} },
      ],
      v8Flags: V8_FLAGS,
    }),
    disks,
  }
}

function waysOut(): unknown[] {
  const proxied = [OUTBOUND, WAYS_OUT.S3]
  return [...Object.values(WAYS_OUT), OUTBOUND].map((name) => ({
    name,
    external: { http: proxied.includes(name) ? { style: PROXY_STYLE } : {} },
  }))
}

function withoutMiniflare(each: Service): Service {
  if (!each.worker) return each
  const { bindings, durableObjectStorage: storage } = each.worker
  // Restores the setting for storage in memory: its value is Cap'n Proto's void, which the captured
  // JSON shows as an empty object.
  const isVoid = storage && Object.keys(storage).length === 0
  return {
    ...each,
    worker: {
      ...each.worker,
      bindings: bindings.filter(({ name }) => name !== LOOPBACK),
      ...(isVoid && { durableObjectStorage: { inMemory: kVoid } }),
    },
  }
}

/**
 * Returns the service of the Worker and all services that the Worker refers to, directly or not.
 */
function usedServices(services: Service[]): Service[] {
  const used = new Set<Service>()
  function use(each: Service): void {
    if (used.has(each)) return
    used.add(each)
    const names = namesIn(each)
    for (const other of services) if (names.has(other.name)) use(other)
  }
  for (const each of services) if (each.name === MAIN) use(each)
  return [...used]
}

/**
 * Returns the names of services that a Worker refers to by `name`, `serviceName` or `localDisk`.
 */
function namesIn({ worker: own }: Service): Set<string> {
  const names = new Set<string>()
  JSON.stringify(own, (key, value: unknown) => {
    const designates = ["name", "serviceName", "localDisk"].includes(key)
    if (designates && typeof value === "string") names.add(value)
    return value
  })
  names.delete("loopback")
  return names
}

/**
 * Returns the extensions with modules that a service or another module of an extension refers to.
 */
function usedExtensions(
  extensions: z.infer<typeof captured>["extensions"],
  services: string,
): unknown[] {
  return extensions.flatMap(({ modules }) => {
    const texts = [services, ...modules.map((module) => JSON.stringify(module))]
    const used = modules.filter(({ name }, index) =>
      texts.some((text, at) => at !== index + 1 && text.includes(name)),
    )
    return used.length > 0 ? [{ modules: used }] : []
  })
}
