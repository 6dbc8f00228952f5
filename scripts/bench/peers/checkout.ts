import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { CliError } from "../../local/cli-error.ts"
import { toolEnvironment } from "../../local/environment.ts"
import { freePort } from "../../local/ports.ts"
import { startProgram } from "../../local/program.ts"
import type { Program } from "../../local/program.ts"
import type { BenchScope } from "../scope.ts"

/** What its own `npm run build` makes; it is two processes, with a queue in Redis between them. */
const SERVER = "apps/server/dist/server.js"
const WORKER = "apps/worker/dist/worker.js"

/** A running ffmpeg-rest: where it serves once it is ready, and its processes. */
export type RunningPeer = { origin: string; programs: Program[] }

/**
 * Starts ffmpeg-rest from a checkout with its dependencies and its build, and a Redis where no
 * `redisUrl` is given. Throws a CliError that says what is missing.
 */
export async function startCheckout(
  scope: BenchScope,
  folder: string,
  redisUrl: string | undefined,
): Promise<RunningPeer> {
  requireBuild(folder)
  const port = await freePort()
  const environment = {
    ...toolEnvironment(),
    NODE_ENV: "production",
    PORT: String(port),
    REDIS_URL: redisUrl ?? (await startRedis(scope)),
    TEMP_DIR: await scope.makeFolder(),
    STORAGE_MODE: "stateless",
    CACHE_ENABLED: "false",
  }
  const programs = [SERVER, WORKER].map((script) =>
    scope.use(startProgram({ words: [script], folder, environment, signal: scope.signal })),
  )
  return { origin: `http://127.0.0.1:${port}`, programs }
}

function requireBuild(folder: string): void {
  if (!existsSync(join(folder, "package.json"))) {
    throw new CliError(`PEERS names ${folder}, which is no checkout of ffmpeg-rest.`)
  }
  const missing = [SERVER, WORKER].find((script) => !existsSync(join(folder, script)))
  if (missing === undefined) return
  throw new CliError(
    `The checkout of ffmpeg-rest has no ${missing}: run npm ci and npm run build in ${folder}.`,
  )
}

/** A Redis of its own, which keeps nothing; its address. */
async function startRedis(scope: BenchScope): Promise<string> {
  const port = await freePort()
  const words = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
  const child = spawn("redis-server", [...words, "--dir", await scope.makeFolder()], {
    stdio: "ignore",
  })
  try {
    await once(child, "spawn")
  } catch (error) {
    throw new CliError(
      "ffmpeg-rest needs Redis: install redis-server, or name one in REDIS_URL that it may use.",
      { cause: error },
    )
  }
  scope.defer(() => void child.kill("SIGKILL"))
  return `redis://127.0.0.1:${port}`
}
