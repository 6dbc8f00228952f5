import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Miniflare } from "miniflare"
import { settingNames, settings } from "../../src/settings.ts"
import { Complaint } from "./complaint.ts"
import { pickVariables } from "./environment.ts"
import { untilHealthy } from "./health.ts"
import { lockStateDir } from "./lock.ts"
import { migrate } from "./migrate.ts"
import type { Place } from "./place.ts"
import { freePort, requirePort } from "./ports.ts"
import { requireSandbox } from "./sandbox-health.ts"
import { startRunner } from "./runner-process.ts"
import { loadSecrets, randomText } from "./secrets.ts"
import type { Secrets } from "./secrets.ts"
import { startSweepClock } from "./sweep-clock.ts"
import { makeWorker } from "./worker.ts"
import type { WorkerBindings } from "./worker.ts"

const START_PATIENCE_MS = 60_000

/** Where this start's runner is asked, and with what. */
type RunnerDoor = { port: number; token: string }

export type Service = { secrets: Secrets; stop(): Promise<void> }

/**
 * Starts the whole service at a place and answers once it does. Whatever had started is stopped
 * again where a step fails or `signal` is aborted.
 */
export async function startService(place: Place, signal: AbortSignal): Promise<Service> {
  await using started = new AsyncDisposableStack()
  makeStateDir(place.stateDir)
  const lock = lockStateDir(place.stateDir)
  started.defer(() => lock.release())
  await requirePort(place.host, place.port)

  const secrets = loadSecrets(place.stateDir, process.env)
  const door = { port: await freePort(), token: randomText() }
  const bindings = bindingsFor(place, secrets, door)
  // What was in its queues died with workerd; a sweep finds what it spoke of.
  const worker: Miniflare = await makeWorker(place, bindings, () => void sweepAgain(worker))
  started.defer(() => worker.dispose())
  await worker.ready
  await migrate(await worker.getD1Database("DB"), "migrations")
  signal.throwIfAborted()

  const runner = startRunner({
    ...door,
    capacity: place.runnerCapacity,
    workDir: join(place.stateDir, "work"),
    hello: { url: `${ioOrigin(place)}/operator/runner-up`, token: secrets.OPERATOR_TOKEN },
  })
  started.defer(() => runner.stop())
  const clock = startSweepClock(async () => await runCron(worker), place.sweepEveryMs)
  started.defer(() => clock.stop())
  await untilHealthy({ url: `${place.origin}/v1/health` }, START_PATIENCE_MS, signal)
  const runnerHealth = { url: `${originOf(door)}/health`, token: door.token }
  await untilHealthy(runnerHealth, START_PATIENCE_MS, signal)
  await requireSandbox(runnerHealth)

  const running = started.move()
  return { secrets, stop: async () => await running.disposeAsync() }
}

function makeStateDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new Complaint(`STATE_DIR cannot be used: ${String(error)}`, { cause: error })
  }
}

async function sweepAgain(worker: Miniflare): Promise<void> {
  await runCron(worker).catch((error: unknown) => {
    console.error(`The sweep after a restart failed: ${String(error)}`)
  })
}

async function runCron(worker: Miniflare): Promise<void> {
  // The handle is asked for anew each time, since one does not outlive its workerd.
  const handle = await worker.getWorker()
  const { outcome } = await handle.scheduled({ cron: "* * * * *" })
  if (outcome !== "ok") throw new Error(`its outcome is "${outcome}"`)
}

/** The settings that the environment names, and those that only this process can know. */
function bindingsFor(place: Place, secrets: Secrets, door: RunnerDoor): WorkerBindings {
  const bindings = {
    ...pickVariables(process.env, settingNames),
    ...secrets,
    RUNNER_ORIGIN: originOf(door),
    RUNNER_TOKEN: door.token,
    RUNNER_CAPACITY: String(place.runnerCapacity),
    IO_ORIGIN: ioOrigin(place),
  }
  const issue = settings.safeParse(bindings).error?.issues[0]
  if (issue)
    throw new Complaint(`The setting ${issue.path.join(".")} is not right: ${issue.message}.`)
  return bindings
}

function originOf({ port }: RunnerDoor): string {
  return `http://127.0.0.1:${port}`
}

/** Where the runner reaches the Worker: straight, unless the environment names a way through another. */
function ioOrigin(place: Place): string {
  return process.env["IO_ORIGIN"] ?? place.origin
}
