import { spawn } from "node:child_process"
import type { ChildProcessByStdio } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { Complaint } from "../local/complaint.ts"
import { pickVariables } from "../local/environment.ts"
import { diesWithParent } from "../local/parent-death.ts"
import { freePort } from "../local/ports.ts"
import { storedSecrets } from "../local/secrets.ts"

/** Variables that the service sees; settings of the environment are none of the demo's. */
const PASSED_ON = ["PATH", "HOME", "TMPDIR", "FFMPEG_PATH", "FFPROBE_PATH"]
const READY_LINE = /^Lathe serves /
const KILL_AFTER_MS = 20_000

type Child = ChildProcessByStdio<null, Readable, Readable>

export type TemporaryService = AsyncDisposable & { origin: string; operatorToken: string }

/** Starts `npm start`'s service on a free port; it ends when it is disposed of. */
export async function startTemporaryService(
  stateDir: string,
  signal: AbortSignal,
): Promise<TemporaryService> {
  await using started = new AsyncDisposableStack()
  const port = await freePort()
  const child = spawnService(stateDir, port)
  started.defer(async () => await stop(child))
  await untilReady(child, signal)
  const secrets = storedSecrets(stateDir)
  if (!secrets) throw new Error("the service kept no secrets")
  const running = started.move()
  return {
    origin: `http://127.0.0.1:${port}`,
    operatorToken: secrets.OPERATOR_TOKEN,
    [Symbol.asyncDispose]: async () => await running.disposeAsync(),
  }
}

function spawnService(stateDir: string, port: number): Child {
  const [program, ...words] = diesWithParent([process.execPath, "scripts/start.ts"])
  return spawn(program, words, {
    env: { ...pickVariables(process.env, PASSED_ON), PORT: String(port), STATE_DIR: stateDir },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own spares it the terminal's Ctrl-C: it is stopped in order.
    detached: true,
  })
}

async function untilReady(child: Child, signal: AbortSignal): Promise<void> {
  signal.addEventListener("abort", () => child.kill("SIGTERM"), { once: true })
  let complaints = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text
  })
  for await (const line of createInterface(child.stdout)) {
    if (!READY_LINE.test(line)) continue
    child.stdout.resume()
    return
  }
  signal.throwIfAborted()
  throw new Complaint(complaints.trim() || "The service ended before it was ready.")
}

async function stop(child: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, "exit")
  child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS)
  await exited
  clearTimeout(timer)
}
