import { createRequire } from "node:module"
import { join } from "node:path"
import { Log, LogLevel, Miniflare, convertV4MiniflareOptions } from "miniflare"
import { unstable_getMiniflareWorkerOptions } from "wrangler"
import { z } from "zod"
import { bundleWorker } from "./bundle.ts"
import { outboundWorker, OUTBOUND_WORKER } from "./outbound-worker.ts"
import { canDieWithParent } from "./parent-death.ts"
import type { Place } from "./place.ts"
import { patchR2 } from "./r2-patch.ts"

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Settings of the Worker; those that the start script acts on itself are named. */
export type WorkerBindings = Record<string, string> & {
  RUNNER_ORIGIN: string
  ALLOWED_PRIVATE_HOSTS?: string
}

const variables = z.record(z.string(), z.json()).default({})

/**
 * The Worker of wrangler.toml in workerd, everything it is bound to emulated in the state folder.
 * It answers once `ready` is awaited; workerd is started again when it dies, and then `onRestart`
 * is called.
 */
export async function makeWorker(
  place: Place,
  bindings: WorkerBindings,
  onRestart: () => void,
): Promise<Miniflare> {
  patchR2()
  useWorkerdThatDiesWithParent()
  const options = await workerOptions(bindings)
  const listeners = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const)
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: place.host,
      port: place.port,
      cf: false,
      logRequests: false,
      telemetry: { enabled: false },
      log: new Log(LogLevel.WARN),
      // The last part is what `wrangler … --persist-to` adds, so that it finds the same state.
      resourcePersistencePath: join(place.stateDir, "v3"),
      unsafeHandleRuntimeRestart: () => {
        console.error("workerd was started again.")
        onRestart()
      },
      handleStructuredLogs: ({ level, message }) => console.log(`[worker ${level}] ${message}`),
      workers: [options, outboundWorker(bindings.ALLOWED_PRIVATE_HOSTS ?? "")],
    }),
  )
  // Miniflare's own handlers end this process at once, before anything else could stop in order.
  for (const [signal, before] of listeners) {
    for (const listener of process.listeners(signal)) {
      if (!before.includes(listener)) process.removeListener(signal, listener)
    }
  }
  return miniflare
}

async function workerOptions(bindings: WorkerBindings) {
  // It would say where secrets come from and which are missing, though `bindings` has them all.
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
    // Users' URLs are called only where their addresses were checked, the runner by a way of its own.
    outboundService: OUTBOUND_WORKER,
    serviceBindings: {
      RUNNER: { external: { address: new URL(bindings.RUNNER_ORIGIN).host, http: {} } },
    },
    modules: [{ type: "ESModule" as const, path: "index.js", contents }],
  }
}

/** Has Miniflare, here or in a process of ours, start a workerd that ends when its parent does. */
export function useWorkerdThatDiesWithParent(): void {
  if (!canDieWithParent()) return
  const requireAsMiniflare = createRequire(import.meta.resolve("miniflare"))
  const workerd = z.object({ default: z.string() }).parse(requireAsMiniflare("workerd"))
  process.env["WORKERD_BINARY"] = workerd.default
  process.env["MINIFLARE_WORKERD_PATH"] = join(import.meta.dirname, "workerd-with-parent")
}
