import { once } from "node:events"
import { existsSync, mkdirSync } from "node:fs"
import { createServer, request } from "node:http"
import type { IncomingMessage, RequestOptions, ServerResponse } from "node:http"
import { join } from "node:path"
import { json, text } from "node:stream/consumers"
import { parseHostList } from "../../src/contract/urls/user-url.ts"
import { listS3Hosts, readS3Sources } from "../../src/bindings/s3-sources.ts"
import { BUNDLE_PATHS, SITE_FOLDER } from "./bundles.ts"
import type { WorkerdBuild } from "./workerd-build.ts"
import { CliError } from "../cli/cli-error.ts"
import type { CallersEntrypointSettings } from "./front/front.ts"
import { log } from "./log.ts"
import { makeOutgoingRequestHandler } from "./worker/outbound.ts"
import type { ServiceConfig } from "../cli/service-config.ts"
import { startWorkerd } from "./workerd.ts"
import { mkdir, statfs, writeFile } from "node:fs/promises"
import { z } from "zod"
import { newId } from "../../src/platform/ids.ts"

/**
 * Settings of the Worker by name. The type lists the settings that the start script itself uses.
 */
export type LocalWorkerSettings = Record<string, string> & {
  RUNNER_ORIGIN: string
  ALLOWED_PRIVATE_HOSTS?: string
  S3_SOURCES?: string
}

/** Worker that runs in workerd until its disposal. */
export type LocalWorker = AsyncDisposable & {
  /** Applies new migrations to the databases. */
  migrate(): Promise<void>
  /** Runs the Worker's cron handler. `signal` ends the wait for the handler. */
  sweep(signal?: AbortSignal): Promise<void>
}

export type WorkerStartOptions = {
  /**
   * Folder of the UNIX sockets between workerd, the runner and the start script. Only this user may
   * enter the folder.
   */
  folder: string
  /** File descriptor of the service's listening socket for API clients. */
  descriptor: number
  front: CallersEntrypointSettings
  onRestart: () => void
}

type Handler = (incoming: IncomingMessage, answer: ServerResponse) => Promise<void>

/** Returns the path of the UNIX socket on which the Worker listens for the runner. */
export function workerSocketPath(folder: string): string {
  return join(folder, "worker")
}

/**
 * Starts the built Worker in workerd, with its bindings emulated in the state folder. Requests wait
 * until the Worker's databases are migrated. If workerd dies, starts workerd again and calls
 * `onRestart`.
 */
export async function startWorker(
  config: ServiceConfig,
  bindings: LocalWorkerSettings,
  runtime: WorkerdBuild,
  { folder, descriptor, front, onRestart }: WorkerStartOptions,
): Promise<LocalWorker> {
  await using started = new AsyncDisposableStack()
  const handlers = makeHandlers(config, bindings)
  for (const [name, handler] of Object.entries(handlers)) {
    started.use(await listenBy(join(folder, name), handler))
  }
  const sockets = { worker: workerSocketPath(folder), control: join(folder, "control") }
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
        ...options("directory-path", findDisks(runtime, config.stateDir)),
        runtime.config ?? BUNDLE_PATHS.workerd,
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

/**
 * Makes the handlers of the external services that the Worker calls, by their names in workerd's
 * configuration.
 */
function makeHandlers(
  config: ServiceConfig,
  bindings: LocalWorkerSettings,
): Record<string, Handler> {
  return {
    outbound: makeOutgoingRequestHandler({
      allowedHosts: parseHostList(bindings.ALLOWED_PRIVATE_HOSTS ?? ""),
      refusesPublicHosts: config.refusesPublicHosts,
    }),
    // Allows only the hosts in S3_SOURCES, also at private addresses, because the operator chose
    // these hosts.
    stores: makeOutgoingRequestHandler({
      allowedHosts: listS3Hosts(readS3Sources(bindings.S3_SOURCES)),
      refusesPublicHosts: true,
    }),
    disk: diskHandler(config.stateDir),
    mails: mailHandler(config.stateDir),
  }
}

async function listenBy(path: string, handler: Handler): Promise<AsyncDisposable> {
  // Accepts requests without a Host header, because their target is a full URL, as for a proxy.
  // Sets no time limit, because a body may be slow.
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

/**
 * Creates a folder of the Worker's state and returns the folder's path. `wrangler … --persist-to`
 * finds the same folder.
 */
function makeDisk(stateDir: string, name: string): string {
  const path = join(stateDir, "v3", name)
  mkdirSync(path, { recursive: true })
  return path
}

/** Returns the folders of workerd's disk services, by the name of each service. */
function findDisks({ disks }: WorkerdBuild, stateDir: string): Record<string, string> {
  return {
    ...mapValues(disks, (name) => makeDisk(stateDir, name)),
    // Uses an empty folder if the documentation site was not built.
    site: existsSync(SITE_FOLDER) ? SITE_FOLDER : makeDisk(stateDir, "no-site"),
  }
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

/**
 * Calls the Worker's entrypoint `control`. Throws the error that the entrypoint reports. The error
 * is a CliError if it is about a wrong setting.
 */
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
  const message = await text(answer)
  if (answer.statusCode === 409) throw new CliError(message)
  if (answer.statusCode !== 204)
    throw new Error(message || `the Worker answered ${answer.statusCode}`)
}

/**
 * Makes the handler that reports the free and total space of a folder's disk to the Worker, which
 * has no access to the file system.
 */
function diskHandler(folder: string) {
  return async (_request: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { bavail, blocks, bsize } = await statfs(folder)
    const room = { free_bytes: bavail * bsize, total_bytes: blocks * bsize }
    answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(room))
  }
}

/** Returns the value of a mail header, with line breaks replaced by spaces. */
const line = z.string().transform((text) => text.replaceAll(/[\r\n]+/g, " "))
const mail = z.object({ from: line, to: line, subject: line, text: z.string() })

/** Returns the folder of the mails that are stored in a state folder. */
export function findMailFolder(stateDir: string): string {
  return join(stateDir, "mails")
}

/**
 * Makes the handler that stores the Worker's mails if no mail provider is set. The handler writes
 * each mail to a file that mail programs can read, and logs the file's path.
 */
function mailHandler(stateDir: string) {
  const folder = findMailFolder(stateDir)
  return async (request: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { from, to, subject, text } = mail.parse(await json(request))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const date = new Date()
    const path = join(folder, `${date.toISOString().replaceAll(":", "-")}-${newId()}.eml`)
    const head = [
      `From: ${from}`,
      `To: ${to}`,
      `Subject: ${subject}`,
      `Date: ${date.toUTCString()}`,
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: 8bit",
    ]
    await writeFile(path, `${[...head, "", text].join("\r\n")}\r\n`, { mode: 0o600, flag: "wx" })
    console.log(`Mail to ${to}: "${subject}" is ${path}`)
    answer.writeHead(204).end()
  }
}
