import { basename } from "node:path"
import { kVoid } from "miniflare"
import type { serializeConfig } from "miniflare"
import { z } from "zod"

/** workerd's configuration as Miniflare has it. */
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

/** The service of the Worker that Miniflare was given. */
const MAIN = "core:user:"
/** Asks Miniflare's own server, which is not there. */
const LOOPBACK = "MINIFLARE_LOOPBACK"

/**
 * Ways out of the Worker, by the names of their bindings: each is a socket of the start script or
 * the runner's port, whose address a start gives.
 */
const WAYS_OUT = { RUNNER: "runner", S3: "stores", DISK: "disk", MAILS: "mails" }
/** Where every other fetch goes; it and `stores` hear the whole URL as a proxy does. */
const OUTBOUND = "outbound"

/**
 * V8 sees little of what workerd allocates for a request and its headers, and frees it only as it
 * marks its whole heap, which it would first do at hundreds of MiB: docs/decisions/0040.
 */
const V8_FLAGS = ["--initial-old-space-size=4", "--max-semi-space-size=8"]

const PROXY_STYLE = 1
const config = z.custom<Config>()

/**
 * Turns Miniflare's configuration of one Worker into one that needs no Miniflare: variables and
 * secrets, which are those of `names`, come from workerd's environment, every way out is an address
 * that a start gives, and what the Worker does not use is not there.
 */
export function adapt(
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
    ],
    globalOutbound: { name: OUTBOUND },
    // The Worker uses no cache of its own, and has containers on Cloudflare alone.
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
      services: [...used, ...waysOut(), { name: "internet", network: { allow: [] } }],
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
  // The void of this union is lost on the way through JSON.
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

/** The main service and all that it leads to. */
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

/** What designates services: their names as `name`, `serviceName` or `localDisk` of a value. */
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

/** Extensions whose modules a service, or another such module, names. */
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
