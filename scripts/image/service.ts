import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { createKey } from "../keys/operator.ts"
import { openCaller } from "../bench/caller.ts"
import type { Caller } from "../bench/caller.ts"
import { diesWithParent } from "../local/parent-death.ts"
import { freePort } from "../local/ports.ts"
import { useWorkerdThatDiesWithParent } from "../local/worker.ts"
import { docker } from "./docker.ts"

/** Not its starter, which would leave it alone where it is killed. */
const WRANGLER = "node_modules/wrangler/wrangler-dist/cli.js"
const STOP_MS_MAX = 15_000
const READY_MS_MAX = 240_000
const READY_POLL_MS = 100
const TAIL_LINES = 60

/** The Worker with its containers, as `wrangler dev` runs them, on a state of its own. */
export type ImageService = AsyncDisposable & {
  origin: string
  /** What signs task tokens. */
  secret: string
  openAccount(name: string): Promise<{ key: string; caller: Caller }>
  /** Ids of the containers of media runners that run now. */
  containers(): Promise<string[]>
}

/** Starts it with these settings and answers once it serves. */
export async function startImageService(
  settings: Record<string, string> = {},
): Promise<ImageService> {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "lathe-image-"))
  started.defer(async () => await rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const name = `lathe-test-${randomBytes(4).toString("hex")}`
  const secret = randomBytes(24).toString("hex")
  const token = randomBytes(24).toString("hex")
  const config = join(folder, "wrangler.toml")
  await writeFile(config, deriveConfig(await readFile("wrangler.toml", "utf8"), name))
  const secrets = join(folder, "secrets")
  await writeFile(secrets, `LATHE_SECRET=${secret}\nOPERATOR_TOKEN=${token}\n`, { mode: 0o600 })
  const state = ["--config", config, "--persist-to", join(folder, "state")]
  await wrangler(["d1", "migrations", "apply", "DB", "--local", ...state], folder).ended
  started.defer(() => removeContainers(name))
  const port = await freePort()
  const variables = Object.entries(settings).flatMap(([key, value]) => ["--var", `${key}:${value}`])
  const words = ["--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"]
  const serving = wrangler(["dev", ...state, "--env-file", secrets, ...words, ...variables], folder)
  started.defer(() => serving.stop())
  const origin = `http://127.0.0.1:${port}`
  await Promise.race([untilHealthy(origin), serving.ended])
  const running = started.move()
  return {
    origin,
    secret,
    async openAccount(account) {
      const order = { account, plan: "paid" as const }
      const { key } = await createKey({ origin, token, isLocal: true }, order)
      const caller = openCaller(origin, { "x-api-key": key })
      running.defer(() => caller.close())
      return { key, caller }
    },
    containers: () => containersOf(`${name}-MediaRunner`),
    [Symbol.asyncDispose]: async () => await running.disposeAsync(),
  }
}

/** The project's configuration with containers on, from another folder and under another name. */
function deriveConfig(text: string, name: string): string {
  return text
    .replace(/^name = .*$/m, `name = "${name}"`)
    .replace(/^enable_containers = false$/m, "enable_containers = true")
    .replaceAll(
      /^(main|migrations_dir|image|image_build_context) = "(.*)"$/gm,
      (_, key: string, path: string) => `${key} = "${resolve(path)}"`,
    )
}

async function containersOf(name: string): Promise<string[]> {
  const lines = await docker("ps", "--filter", `name=${name}`, "--format", "{{.ID}} {{.Names}}")
  const own = lines.split("\n").filter((line) => line !== "" && !line.endsWith("-proxy"))
  return own.map((line) => line.split(" ")[0] ?? "")
}

/** Until none is left: workerd removes its own at the same time, and then ours is refused. */
async function removeContainers(name: string): Promise<void> {
  const lastAt = Date.now() + STOP_MS_MAX
  for (;;) {
    // An engine that is gone has none.
    const ids = await docker("ps", "--all", "--quiet", "--filter", `name=${name}`).catch(() => "")
    if (ids === "" || Date.now() > lastAt) return
    await docker("rm", "--force", "--volumes", ...ids.split("\n")).catch(() => null)
    await sleep(READY_POLL_MS)
  }
}

/** Wrangler builds the images before it serves. */
async function untilHealthy(origin: string): Promise<void> {
  const lastAt = Date.now() + READY_MS_MAX
  for (;;) {
    const answer = await fetch(`${origin}/v1/health`).catch(() => null)
    if (answer?.ok) return
    if (Date.now() > lastAt) throw new Error("wrangler dev did not become ready in time")
    await sleep(READY_POLL_MS)
  }
}

function wrangler(words: string[], folder: string) {
  useWorkerdThatDiesWithParent()
  const [program, ...rest] = diesWithParent([process.execPath, WRANGLER, ...words])
  const child = spawn(program, rest, {
    env: {
      ...process.env,
      CI: "1",
      NO_COLOR: "1",
      WRANGLER_LOG: "log",
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_LOG_PATH: join(folder, "logs"),
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
    },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const tail: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on("line", (line) => {
      tail.push(line)
      if (tail.length > TAIL_LINES) tail.shift()
    })
  }
  const exited = once(child, "exit")
  let isStopping = false
  async function end(): Promise<void> {
    await exited
    if (child.exitCode === 0 || isStopping) return
    throw new Error(`wrangler ${words[0]} ended:\n${tail.join("\n")}`)
  }
  return {
    /** Rejects where it ends by itself and not well. */
    ended: end(),
    async stop() {
      isStopping = true
      child.kill("SIGTERM")
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX)
      await exited
      clearTimeout(timer)
    },
  }
}
