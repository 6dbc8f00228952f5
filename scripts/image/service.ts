import { randomBytes } from "node:crypto"
import { readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import pWaitFor from "p-wait-for"
import { createKeyAsOperator } from "../keys/operator.ts"
import { createApiCaller } from "../cli/client/caller.ts"
import type { ApiCaller } from "../cli/client/caller.ts"
import { isServiceHealthy } from "../cli/health.ts"
import { findWorkerdProgram } from "../build/find-workerd.ts"
import { canKillWithParent } from "../cli/parent-death.ts"
import { findFreePort } from "../cli/ports.ts"
import { startNodeProgram } from "../cli/program.ts"
import type { NodeProgram } from "../cli/program.ts"
import { makeTempFolder } from "../cli/temp-folder.ts"
import { runDocker } from "./docker.ts"

/**
 * Path of wrangler's program. `bin/wrangler.js` would start the program as a child process, and
 * would leave the child running when killed.
 */
const WRANGLER = "node_modules/wrangler/wrangler-dist/cli.js"
const STOP_MS_MAX = 15_000
const READY_MS_MAX = 240_000
const POLL_MS = 100

/** Service that runs under `wrangler dev` with real containers and its own state folder. */
export type WranglerDevService = AsyncDisposable & {
  origin: string
  /** LATHE_SECRET of the service, which signs task tokens. */
  secret: string
  openAccount(name: string): Promise<{ key: string; caller: ApiCaller }>
  /** Returns the ids of the running containers of the runner pool for media tasks. */
  containers(): Promise<string[]>
}

/**
 * Starts the service under `wrangler dev` with the given settings. Returns when the service handles
 * requests.
 */
export async function startWranglerDevService(
  settings: Record<string, string> = {},
): Promise<WranglerDevService> {
  await using started = new AsyncDisposableStack()
  const folder = started.use(await makeTempFolder("image")).path
  const name = `lathe-test-${randomBytes(4).toString("hex")}`
  const secret = randomBytes(24).toString("hex")
  const token = randomBytes(24).toString("hex")
  const config = join(folder, "wrangler.toml")
  await writeFile(config, deriveConfig(await readFile("wrangler.toml", "utf8"), name))
  const secrets = join(folder, "secrets")
  await writeFile(secrets, `LATHE_SECRET=${secret}\nOPERATOR_TOKEN=${token}\n`, { mode: 0o600 })
  const state = ["--config", config, "--persist-to", join(folder, "state")]
  await using migrating = startWrangler(
    ["d1", "migrations", "apply", "DB", "--local", ...state],
    folder,
  )
  if ((await migrating.exited) !== 0) throw failure("wrangler d1 migrations failed", migrating)
  started.defer(() => removeContainers(name))
  const port = await findFreePort()
  const variables = Object.entries(settings).flatMap(([key, value]) => ["--var", `${key}:${value}`])
  const words = ["--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"]
  const serving = started.use(
    startWrangler(["dev", ...state, "--env-file", secrets, ...words, ...variables], folder),
  )
  const origin = `http://127.0.0.1:${port}`
  await untilServing(serving, origin)
  const running = started.move()
  return {
    origin,
    secret,
    async openAccount(account) {
      const order = { account, plan: "paid" as const }
      const { key } = await createKeyAsOperator({ origin, token, isLocal: true }, order)
      const caller = createApiCaller(origin, { "x-api-key": key })
      running.defer(() => caller.close())
      return { key, caller }
    },
    containers: () => containersOf(`${name}-MediaRunner`),
    [Symbol.asyncDispose]: async () => await running.disposeAsync(),
  }
}

/** Returns wrangler.toml with containers enabled, absolute paths and another name. */
function deriveConfig(text: string, name: string): string {
  return text
    .replace(/^name = .*$/m, `name = "${name}"`)
    .replace(/^enable_containers = false$/m, "enable_containers = true")
    .replaceAll(
      /^(main|migrations_dir|image|image_build_context|directory) = "(.*)"$/gm,
      (_, key: string, path: string) => `${key} = "${resolve(path)}"`,
    )
}

async function containersOf(name: string): Promise<string[]> {
  const lines = await runDocker("ps", "--filter", `name=${name}`, "--format", "{{.ID}} {{.Names}}")
  const own = lines.split("\n").filter((line) => line !== "" && !line.endsWith("-proxy"))
  return own.map((line) => line.split(" ")[0] ?? "")
}

/**
 * Removes the containers of a service. Repeats until no container is left, because a removal fails
 * while workerd removes the same container.
 */
async function removeContainers(name: string): Promise<void> {
  async function isRemoved(): Promise<boolean> {
    // Returns no containers if the call fails, because no container runs without a Docker engine.
    const ids = await runDocker("ps", "--all", "--quiet", "--filter", `name=${name}`).catch(
      () => "",
    )
    if (ids === "") return true
    await runDocker("rm", "--force", "--volumes", ...ids.split("\n")).catch(() => null)
    return false
  }
  const timeout = { milliseconds: STOP_MS_MAX, fallback: () => undefined }
  await pWaitFor(isRemoved, { interval: POLL_MS, timeout })
}

/** Waits until the service responds. The time limit includes the build of the images. */
async function untilServing(serving: NodeProgram, origin: string): Promise<void> {
  let hasExited = false
  void serving.exited.then(() => (hasExited = true))
  await pWaitFor(
    async () => {
      if (hasExited) throw failure("wrangler dev ended", serving)
      return await isServiceHealthy({ url: `${origin}/v1/health` })
    },
    {
      interval: POLL_MS,
      timeout: { milliseconds: READY_MS_MAX, message: "wrangler dev did not become ready in time" },
    },
  )
}

function startWrangler(words: string[], folder: string): NodeProgram {
  return startNodeProgram({
    words: [WRANGLER, ...words],
    environment: {
      ...process.env,
      // Makes Miniflare start workerd so that the kernel kills workerd with its parent, if the
      // system supports that.
      MINIFLARE_WORKERD_PATH: join(import.meta.dirname, "workerd-with-parent"),
      WORKERD_BINARY: findWorkerdProgram(),
      WORKERD_LAUNCH: canKillWithParent() ? "setsid setpriv --pdeathsig KILL --" : "",
      CI: "1",
      NO_COLOR: "1",
      WRANGLER_LOG: "log",
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_LOG_PATH: join(folder, "logs"),
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
    },
  })
}

function failure(sentence: string, program: NodeProgram): Error {
  const { stdout, stderr } = program.tail()
  return new Error(`${sentence}:\n${stdout}\n${stderr}`)
}
