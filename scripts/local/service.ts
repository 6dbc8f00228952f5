import { join } from "node:path"
import { makeSocketFolder, removeLeftSocketFolders } from "../../container/egress/socket-folder.ts"
import { hideSecrets } from "../../src/contract/redact.ts"
import { settingNames, settings, workerSecretNames } from "../../src/settings.ts"
import type { RuntimeRecord } from "./runtime-record.ts"
import { CliError } from "./cli-error.ts"
import { pickVariables } from "./environment.ts"
import { readNotedFacts } from "./ffmpeg-facts.ts"
import { untilHealthy } from "./health.ts"
import { lockStateDir } from "./lock.ts"
import { log } from "./log.ts"
import type { ServiceConfig } from "./service-config.ts"
import { addressesOf, openSocket } from "./front/socket.ts"
import { mediaTools } from "./media-tools.ts"
import { freePort } from "./ports.ts"
import { requireSandbox } from "./sandbox-health.ts"
import { startRunner } from "./runner-process.ts"
import { loadSecrets, randomText } from "./secrets.ts"
import type { Secrets } from "./secrets.ts"
import { openStateFolder } from "./state-folder.ts"
import { problemsOfSettings } from "./setting-problems.ts"
import { warningsOfUnknown } from "./unknown-settings.ts"
import { startSweepClock } from "./sweep-clock.ts"
import { startWorker, workerSocket } from "./worker.ts"
import type { LocalWorker, WorkerBindings } from "./worker.ts"

const START_PATIENCE_MS = 60_000
/** Long enough for a few self-tests, since what is against the first may pass. */
const SELF_TEST_PATIENCE_MS = 8000

/** Where this start's runner listens, the token that it requires, and the one it announces itself by. */
type RunnerEndpoint = { port: number; token: string; announceToken: string }

export type Service = { secrets: Secrets; stop(): Promise<void> }

/**
 * Starts the whole service and returns once it serves. Where a part of it fails to start or
 * `signal` is aborted, the parts that run are stopped again.
 */
export async function startService(
  wanted: ServiceConfig,
  runtime: RuntimeRecord,
  signal: AbortSignal,
): Promise<Service> {
  await using started = new AsyncDisposableStack()
  const config = { ...wanted, stateDir: openStateFolder(wanted.stateDir) }
  const lock = lockStateDir(config.stateDir)
  started.defer(() => lock.release())

  const secrets = loadSecrets(config.stateDir, process.env)
  const endpoint = { port: await freePort(), token: randomText(), announceToken: randomText() }
  hideSecrets([...Object.values(secrets), endpoint.token, endpoint.announceToken])
  const bindings = bindingsFor(config, secrets, endpoint)
  await removeLeftSocketFolders(config.stateDir)
  const sockets = started.use(await makeSocketFolder(config.stateDir))
  const socketPath = workerSocket(sockets.path)
  const { host, port, clientAddressHeader } = config
  // Callers wait here until the Worker serves, also while workerd is started again.
  const { descriptor } = started.use(await openSocket({ host, port }))
  // Queued messages are lost with workerd; a sweep finds the jobs and webhooks that they were for.
  const startingWorker: Promise<LocalWorker> = startWorker(config, bindings, runtime, {
    folder: sockets.path,
    descriptor,
    front: {
      port,
      addresses: addressesOf(host),
      publicOrigin: settings.parse(bindings).PUBLIC_ORIGIN,
      clientAddressHeader,
    },
    onRestart: () => void startingWorker.then(sweepAgain),
  })
  // Disposed of from the last to the first: a runner that leaves reports its runs to the Worker.
  disposeOnceStarted(started, startingWorker)
  started.use(
    startRunner({
      port: endpoint.port,
      token: endpoint.token,
      capacity: config.runnerCapacity,
      workDir: join(config.stateDir, "work"),
      // A proxy that the environment names is to see all that the runner sends.
      ioSocket: process.env["IO_ORIGIN"] === undefined ? socketPath : null,
      announce: { url: `${ioOrigin(config)}/operator/runner-up`, token: endpoint.announceToken },
    }),
  )
  const worker = await startingWorker
  await worker.migrate()
  signal.throwIfAborted()
  const clock = startSweepClock((stopping) => worker.sweep(stopping), config.sweepEveryMs)
  started.defer(() => clock.stop())
  await untilHealthy({ url: `${config.origin}/v1/health` }, START_PATIENCE_MS, signal)
  const runnerHealth = { url: `${originOf(endpoint)}/health`, token: endpoint.token }
  await untilHealthy(runnerHealth, START_PATIENCE_MS, signal)
  await requireSandbox(runnerHealth, SELF_TEST_PATIENCE_MS, signal)

  const running = started.move()
  return { secrets, stop: async () => await running.disposeAsync() }
}

/** Has a part disposed of that is coming up, also where it does not. */
function disposeOnceStarted(stack: AsyncDisposableStack, starting: Promise<AsyncDisposable>): void {
  const settled = starting.catch(() => null)
  stack.defer(async () => await (await settled)?.[Symbol.asyncDispose]())
}

async function sweepAgain(worker: LocalWorker): Promise<void> {
  await worker.sweep().catch((error: unknown) => {
    log("error", "sweep.failed", { after: "restart", error: String(error) })
  })
}

/**
 * Settings of the environment, and those that this process determines; the environment may name a
 * proxy before the runner.
 */
function bindingsFor(
  config: ServiceConfig,
  secrets: Secrets,
  endpoint: RunnerEndpoint,
): WorkerBindings {
  const bindings = {
    ...pickVariables(process.env, [...settingNames, ...workerSecretNames]),
    ...secrets,
    RUNNER_ORIGIN: process.env["RUNNER_ORIGIN"] ?? originOf(endpoint),
    RUNNER_TOKEN: endpoint.token,
    ANNOUNCE_TOKEN: endpoint.announceToken,
    RUNNER_CAPACITY: String(config.runnerCapacity),
    IO_ORIGIN: ioOrigin(config),
    FFMPEG_FACTS: process.env["FFMPEG_FACTS"] ?? readNotedFacts(mediaTools().ffmpeg),
  }
  const problems = problemsOfSettings({ ...process.env, ...bindings })
  if (problems.length > 0) throw new CliError(`A setting is not right. ${problems.join(" ")}`)
  for (const message of warningsOfUnknown(process.env)) log("warn", "setting.unknown", { message })
  return bindings
}

function originOf({ port }: RunnerEndpoint): string {
  return `http://127.0.0.1:${port}`
}

/** Where the runner reaches the Worker: directly, unless the environment names a proxy. */
function ioOrigin(config: ServiceConfig): string {
  return process.env["IO_ORIGIN"] ?? config.origin
}
