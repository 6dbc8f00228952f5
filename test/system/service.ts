import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { createKey } from "../../scripts/keys/operator.ts"
import { pickVariables } from "../../scripts/local/environment.ts"
import { diesWithParent } from "../../scripts/local/parent-death.ts"
import { freePort } from "../../scripts/local/ports.ts"
import { storedSecrets } from "../../scripts/local/secrets.ts"

const PASSED_ON = ["PATH", "HOME", "TMPDIR", "FFMPEG_PATH", "FFPROBE_PATH"]
const STOP_MS_MAX = 20_000

/** The whole service as `npm start` serves it, on a state folder of its own. */
export type TestService = AsyncDisposable & {
  origin: string
  stateDir: string
  /** Process id of the start script. */
  pid: number
  /** Calls back with each line that it prints from now on. */
  onLine(listener: (line: string) => void): void
  /** A key of an account, which is made where it is new. */
  makeKey(account: string): Promise<string>
}

/** Starts the service on a free port with these settings and answers once it serves. */
export async function startService(settings: Record<string, string> = {}): Promise<TestService> {
  await using started = new AsyncDisposableStack()
  const stateDir = await mkdtemp(join(tmpdir(), "lathe-system-"))
  started.defer(async () => await rm(stateDir, { recursive: true, force: true, maxRetries: 3 }))
  const port = await freePort()
  const [program, ...words] = diesWithParent([process.execPath, "scripts/start.ts"])
  const child = spawn(program, words, {
    env: {
      ...pickVariables(process.env, PASSED_ON),
      ...settings,
      PORT: String(port),
      STATE_DIR: stateDir,
    },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  })
  const exited = once(child, "exit")
  started.defer(async () => {
    child.kill("SIGTERM")
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX)
    await exited
    clearTimeout(timer)
  })
  const lines = createInterface(child.stdout)
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => line.startsWith("Lathe serves ") && resolve())
    lines.once("close", () => reject(new Error("the service ended before it was ready")))
  })
  const origin = `http://127.0.0.1:${port}`
  const token = storedSecrets(stateDir)?.OPERATOR_TOKEN ?? ""
  const running = started.move()
  return {
    origin,
    stateDir,
    pid: child.pid ?? 0,
    onLine: (listener) => void lines.on("line", listener),
    async makeKey(account) {
      return (await createKey({ origin, token, isLocal: true }, { account })).key
    },
    [Symbol.asyncDispose]: async () => await running.disposeAsync(),
  }
}
