import { EventEmitter } from "node:events"
import { createRequire } from "node:module"
import { join } from "node:path"
import { Log, LogLevel, Miniflare, convertV4MiniflareOptions } from "miniflare"
import { unstable_getMiniflareWorkerOptions } from "wrangler"
import { z } from "zod"
import { readHosts } from "../../src/contract/user-url.ts"
import { hostsOfStores, readS3Sources } from "../../src/s3-sources.ts"
import { bundleWorker } from "./bundle.ts"
import { outboundWorker, OUTBOUND_WORKER, STORE_WORKER } from "./outbound-worker.ts"
import { diskHandler } from "./disk-handler.ts"
import { mailHandler } from "./mail-handler.ts"
import { canDieWithParent } from "./parent-death.ts"
import type { ServiceConfig } from "./service-config.ts"
import { entryPatch } from "./entry-patch.ts"
import { log, printWorkerLine } from "./log.ts"
import { patchMiniflare } from "./miniflare-patch.ts"
import { r2Patch } from "./r2-patch.ts"

const SOCKET_NAME = "worker"
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Settings of the Worker; the start script uses the named ones itself. */
export type WorkerBindings = Record<string, string> & {
  RUNNER_ORIGIN: string
  ALLOWED_PRIVATE_HOSTS?: string
  S3_SOURCES?: string
}

const variables = z.record(z.string(), z.json()).default({})

/** Path of the socket that the Worker listens on, in a folder of its own. */
export function workerSocket(folder: string): string {
  return `${join(folder, SOCKET_NAME)}:0`
}

/**
 * Starts the Worker of wrangler.toml in workerd, with its bindings emulated in the state folder. It
 * serves on its socket in `socketFolder` once `ready` has resolved. When workerd dies, it is started
 * again and `onRestart` called.
 */
export async function makeWorker(
  config: ServiceConfig,
  bindings: WorkerBindings,
  socketFolder: string,
  onRestart: () => void,
): Promise<Miniflare> {
  patchMiniflare(r2Patch, entryPatch)
  useWorkerdThatDiesWithParent()
  process.env["WORKERD_SOCKET"] = workerSocket(socketFolder)
  // A handler of Miniflare's that rejects, as by a target that is no path, ends no more than its
  // request.
  EventEmitter.captureRejections = true
  const options = await workerOptions(bindings, { stateDir: config.stateDir, socketFolder })
  const outbound = outboundWorker(OUTBOUND_WORKER, {
    allowedHosts: readHosts(bindings.ALLOWED_PRIVATE_HOSTS ?? ""),
    refusesPublicHosts: config.refusesPublicHosts,
  })
  // The operator's own word: wherever these hosts are, and no others.
  const stores = outboundWorker(STORE_WORKER, {
    allowedHosts: hostsOfStores(readS3Sources(bindings.S3_SOURCES)),
    refusesPublicHosts: true,
  })
  const listeners = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const)
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      // Miniflare's own calls; the entry worker refuses all others.
      host: "127.0.0.1",
      port: 0,
      cf: false,
      logRequests: false,
      telemetry: { enabled: false },
      log: new Log(LogLevel.WARN),
      // `wrangler … --persist-to` adds "v3" too, so it finds the same state.
      resourcePersistencePath: join(config.stateDir, "v3"),
      unsafeHandleRuntimeRestart: () => {
        log("error", "workerd.restarted", { message: "workerd was started again." })
        onRestart()
      },
      handleStructuredLogs: printWorkerLine,
      workers: [options, outbound, stores],
    }),
  )
  // Miniflare's own handlers exit at once, before the rest of the service can stop in order.
  for (const [signal, before] of listeners) {
    for (const listener of process.listeners(signal)) {
      if (!before.includes(listener)) process.removeListener(signal, listener)
    }
  }
  return miniflare
}

async function workerOptions(
  bindings: WorkerBindings,
  { stateDir, socketFolder }: { stateDir: string; socketFolder: string },
) {
  // Else it warns of missing secrets, which `bindings` has.
  process.env["WRANGLER_LOG"] ??= "error"
  const {
    workerOptions: fromConfig,
    main,
    define,
  } = unstable_getMiniflareWorkerOptions("wrangler.toml")
  if (main === undefined) throw new Error("wrangler.toml names no main")
  const contents = await bundleWorker(main, define)
  return {
    ...fromConfig,
    bindings: { ...variables.parse(fromConfig["bindings"]), ...bindings },
    // Miniflare puts the port behind the host.
    unsafeDirectSockets: [{ host: `unix:${join(socketFolder, SOCKET_NAME)}`, port: 0 }],
    // Every fetch passes the address check of the outbound Worker; the runner and stores have bindings of their own.
    outboundService: OUTBOUND_WORKER,
    serviceBindings: {
      RUNNER: { external: { address: new URL(bindings.RUNNER_ORIGIN).host, http: {} } },
      S3: STORE_WORKER,
      DISK: { node: diskHandler(stateDir) },
      MAILS: { node: mailHandler(stateDir) },
    },
    modules: [{ type: "ESModule" as const, path: "index.js", contents }],
  }
}

/**
 * Has Miniflare, here and in child processes, start workerd so that it dies with its parent, where
 * the system can do that, and so that the socket of one that died is not in its way.
 */
export function useWorkerdThatDiesWithParent(): void {
  const requireAsMiniflare = createRequire(import.meta.resolve("miniflare"))
  const workerd = z.object({ default: z.string() }).parse(requireAsMiniflare("workerd"))
  process.env["WORKERD_BINARY"] = workerd.default
  process.env["WORKERD_LAUNCH"] = canDieWithParent() ? "setsid setpriv --pdeathsig KILL --" : ""
  process.env["MINIFLARE_WORKERD_PATH"] = join(import.meta.dirname, "workerd-with-parent")
}
