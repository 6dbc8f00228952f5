import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare"
import {
  unstable_getMiniflareWorkerOptions,
  unstable_readConfig,
  unstable_splitSqlQuery,
} from "wrangler"
import { bundleWorkerSource } from "../../scripts/build/worker.ts"
import { createKeyAsOperator } from "../../scripts/keys/operator.ts"
import { findFreePort } from "../../scripts/cli/ports.ts"
import { makeTempFolder } from "../../scripts/cli/temp-folder.ts"
import { startTestSite } from "../support/site/site.ts"
import type { TestSite } from "../support/site/site.ts"
import { openKeyedCall } from "../system/operate/keyed-call.ts"
import type { KeyedCall } from "../system/operate/keyed-call.ts"
import { startReceiver } from "../system/receiver.ts"
import type { Receiver } from "../system/receiver.ts"
import { dropConnections } from "./dropping.ts"
import { Engine } from "./engine.ts"
import { startFront } from "./front.ts"
import type { Switch } from "./switches.ts"

/** A single instance of each class: each account of a flow takes the slot of the account before. */
const INSTANCES = ["RUNNER", "LIGHT", "FETCH", "LOOKUP", "SPEECH"].map(
  (name) => `${name}_INSTANCES`,
)
/** A name of the web as instances know it. */
const WEB_NAME = "media.test"

/** The deployed service with the platform's behaviour, and what its flows need of a world. */
export type Rig = AsyncDisposable & {
  origin: string
  folder: string
  site: TestSite
  receiver: Receiver
  /** The URL of a path of the site, by a name. */
  url(path: string): string
  /** A caller of an account of its own. */
  openAccount(name: string): Promise<KeyedCall>
  /** Events of instances. */
  happened: readonly string[]
}

/** Starts the Worker of wrangler.toml with its Container classes, each container a process. */
export async function startRig(switches: ReadonlySet<Switch>): Promise<Rig> {
  await using opened = new AsyncDisposableStack()
  const { path: folder } = opened.use(await makeTempFolder("platform"))
  const site = opened.use(await startTestSite())
  const receiver = opened.use(await startReceiver())
  const sitePort = Number(new URL(site.origin).port)
  const isDropped = switches.has("dropped-ipv6")
  if (isDropped) opened.use(await dropConnections(sitePort))
  const [v6, v4] = [
    { address: "::1", family: 6 },
    { address: "127.0.0.1", family: 4 },
  ] as const
  const names = { [WEB_NAME]: isDropped ? [v6, v4] : [v4] }
  const port = await findFreePort()
  const engine = opened.use(
    new Engine({ switches, folder, names, instancesMax: 1, workerPort: () => port }),
  )
  const [secret, token] = [randomBytes(24).toString("hex"), randomBytes(24).toString("hex")]
  const hosts = [new URL(receiver.origin).host, `${WEB_NAME}:${sitePort}`, site.host]
  const { workerOptions, define } = unstable_getMiniflareWorkerOptions("wrangler.toml")
  const { vars: variables } = unstable_readConfig({ config: "wrangler.toml" })
  const entry = join(import.meta.dirname, "worker/entry.ts")
  const { contents } = await bundleWorkerSource(
    `export * from ${JSON.stringify(entry)}
export { default } from ${JSON.stringify(entry)}`,
    define,
  )
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      telemetry: { enabled: false },
      log: new Log(LogLevel.WARN),
      host: "127.0.0.1",
      port,
      resourcePersistencePath: join(folder, "state"),
      workers: [
        {
          ...workerOptions,
          modules: [{ type: "ESModule", path: "index.js", contents }],
          bindings: {
            ...variables,
            ...Object.fromEntries(INSTANCES.map((name) => [name, "1"])),
            LATHE_SECRET: secret,
            OPERATOR_TOKEN: token,
            ALLOWED_PRIVATE_HOSTS: hosts.join(","),
            LOG_LEVEL: process.env["RIG_LOG"] ?? "error",
            RIG_SWITCHES: [...switches].join(","),
          },
          serviceBindings: {
            ENGINE: { external: { address: `127.0.0.1:${await engine.open()}`, http: {} } },
          },
        },
      ],
    }),
  )
  opened.defer(() => miniflare.dispose())
  await miniflare.ready
  await migrate(miniflare)
  const front = opened.use(await startFront(port, switches))
  const running = opened.move()
  return {
    origin: front.origin,
    folder,
    site,
    receiver,
    url: (path) => `http://${WEB_NAME}:${sitePort}${path}`,
    async openAccount(account) {
      const operator = { origin: front.origin, token, isLocal: true }
      const { key } = await createKeyAsOperator(operator, { account, plan: "paid" })
      return openKeyedCall(front, key)
    },
    happened: engine.happened,
    [Symbol.asyncDispose]: async () => await running.disposeAsync(),
  }
}

async function migrate(miniflare: Miniflare): Promise<void> {
  const database = await miniflare.getD1Database("DB")
  for (const name of readdirSync("migrations")
    .filter((file) => file.endsWith(".sql"))
    .toSorted()) {
    const statements = unstable_splitSqlQuery(readFileSync(join("migrations", name), "utf8"))
    await database.batch(statements.map((statement) => database.prepare(statement)))
  }
}
