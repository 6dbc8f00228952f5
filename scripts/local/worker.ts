import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { createServer, request } from "node:http"
import type { IncomingMessage, RequestOptions, ServerResponse } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { readHosts } from "../../src/contract/user-url.ts"
import { hostsOfStores, readS3Sources } from "../../src/s3-sources.ts"
import { BUILT } from "./built.ts"
import type { RuntimeRecord } from "./runtime-record.ts"
import { CliError } from "./cli-error.ts"
import { diskHandler } from "./disk-handler.ts"
import type { FrontSettings } from "./front/front.ts"
import { log } from "./log.ts"
import { mailHandler } from "./mail-handler.ts"
import { makeOutbound } from "./outbound.ts"
import type { ServiceConfig } from "./service-config.ts"
import { startWorkerd } from "./workerd.ts"

/** Settings of the Worker; the start script uses the named ones itself. */
export type WorkerBindings = Record<string, string> & {
  RUNNER_ORIGIN: string
  ALLOWED_PRIVATE_HOSTS?: string
  S3_SOURCES?: string
}

/** The Worker in workerd, until it is disposed of. */
export type LocalWorker = AsyncDisposable & {
  /** Applies the migrations that were not applied yet. */
  migrate(): Promise<void>
  /** Does what the Worker's cron does; `signal` ends the wait for it. */
  sweep(signal?: AbortSignal): Promise<void>
}

export type WorkerSockets = {
  /** For the runner's socket, the ways out and the start script's way in; only this user may enter it. */
  folder: string
  /** The socket of callers, which listens. */
  descriptor: number
  front: FrontSettings
  onRestart: () => void
}

type Handler = (incoming: IncomingMessage, answer: ServerResponse) => Promise<void>

/** Path of the socket that the Worker listens on, in a folder of its own. */
export function workerSocket(folder: string): string {
  return join(folder, "worker")
}

/**
 * Starts the Worker that was built, with its bindings emulated in the state folder. It serves callers,
 * who wait until it is migrated, and the runner. When workerd dies, it is started again and
 * `onRestart` called.
 */
export async function startWorker(
  config: ServiceConfig,
  bindings: WorkerBindings,
  runtime: RuntimeRecord,
  { folder, descriptor, front, onRestart }: WorkerSockets,
): Promise<LocalWorker> {
  await using started = new AsyncDisposableStack()
  const handlers = makeHandlers(config, bindings)
  for (const [name, handler] of Object.entries(handlers)) {
    started.use(await listenBy(join(folder, name), handler))
  }
  const sockets = { worker: workerSocket(folder), control: join(folder, "control") }
  let notSweptSince: number | null = Date.now()
  started.use(
    await startWorkerd({
      program: runtime.program,
      words: [
        "--binary",
        "--experimental",
        ...options("socket-addr", mapValues(sockets, unixAddress)),
        ...options("external-addr", {
          runner: new URL(bindings.RUNNER_ORIGIN).host,
          ...mapValues(handlers, (_, name) => unixAddress(join(folder, name))),
        }),
        ...options(
          "directory-path",
          mapValues(runtime.disks, (name) => makeDisk(config.stateDir, name)),
        ),
        runtime.config ?? BUILT.workerd,
      ],
      environment: {
        PATH: process.env["PATH"] ?? "",
        TZ: "UTC",
        ...runtime.variables,
        ...bindings,
        FRONT: JSON.stringify(front),
      },
      sockets,
      descriptors: { callers: descriptor },
      onRestart: (startedAt) => {
        notSweptSince = startedAt
        onRestart()
      },
    }),
  )
  const running = started.move()
  return {
    async migrate() {
      const body = JSON.stringify(runtime.migrations)
      await ask({ socketPath: sockets.control, path: "/migrate" }, body)
    },
    async sweep(signal) {
      const startedAt = notSweptSince
      const to = { socketPath: sockets.control, path: "/sweep", signal }
      await ask(to, startedAt === null ? "" : String(startedAt))
      if (notSweptSince === startedAt) notSweptSince = null
    },
    [Symbol.asyncDispose]: async () => await running.disposeAsync(),
  }
}

/** What the Worker reaches, by the names that the configuration has of it. */
function makeHandlers(config: ServiceConfig, bindings: WorkerBindings): Record<string, Handler> {
  return {
    outbound: makeOutbound({
      allowedHosts: readHosts(bindings.ALLOWED_PRIVATE_HOSTS ?? ""),
      refusesPublicHosts: config.refusesPublicHosts,
    }),
    // The operator's own word: wherever these hosts are, and no others.
    stores: makeOutbound({
      allowedHosts: hostsOfStores(readS3Sources(bindings.S3_SOURCES)),
      refusesPublicHosts: true,
    }),
    disk: diskHandler(config.stateDir),
    mails: mailHandler(config.stateDir),
  }
}

async function listenBy(path: string, handler: Handler): Promise<AsyncDisposable> {
  // A request as a proxy gets it says its host in its target alone, and a body takes its time.
  const own = { requireHostHeader: false, requestTimeout: 0 }
  const server = createServer(own, (incoming, answer) => {
    handler(incoming, answer).catch((error: unknown) => {
      log("error", "handler.failed", { error: String(error) })
      if (answer.headersSent) answer.destroy()
      else answer.writeHead(500).end()
    })
  })
  await once(server.listen(path), "listening")
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

/** A folder of the Worker's state, where `wrangler … --persist-to` finds it, too. */
function makeDisk(stateDir: string, name: string): string {
  const path = join(stateDir, "v3", name)
  mkdirSync(path, { recursive: true })
  return path
}

function options(name: string, values: Record<string, string>): string[] {
  return Object.entries(values).map(([key, value]) => `--${name}=${key}=${value}`)
}

function mapValues<Value>(
  values: Record<string, Value>,
  map: (value: Value, name: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]))
}

function unixAddress(path: string): string {
  return `unix:${path}`
}

/** Asks the Worker's entrypoint for the start script; throws what it says went wrong. */
async function ask(
  to: Pick<RequestOptions, "socketPath" | "path" | "signal">,
  body: string,
): Promise<void> {
  const outgoing = request({ ...to, method: "POST", headers: { host: "control" } })
  const arriving = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve).on("error", reject)
  })
  outgoing.end(body)
  const answer = await arriving
  const said = await text(answer)
  if (answer.statusCode === 409) throw new CliError(said)
  if (answer.statusCode !== 204) throw new Error(said || `the Worker answered ${answer.statusCode}`)
}
