import { join } from "node:path"
import {
  createSocketFolder,
  removeAbandonedSocketFolders,
} from "../../container/egress/socket-folder.ts"
import { registerSecrets } from "../../src/contract/redact.ts"
import {
  describeInvalidSecrets,
  settingNames,
  settingsSchema,
  workerSecretNames,
} from "../../src/bindings/settings.ts"
import type { WorkerdBuild } from "./workerd-build.ts"
import { CliError } from "../cli/cli-error.ts"
import { pickEnvironmentVariables } from "../cli/environment.ts"
import { readStoredFfmpegCapabilities } from "./ffmpeg-facts.ts"
import { requestServiceHealth, waitUntilServiceHealthy } from "../cli/health.ts"
import type { HealthEndpoint } from "../cli/health.ts"
import { lockStateDir } from "./lock.ts"
import { log } from "./log.ts"
import type { ServiceConfig } from "../cli/service-config.ts"
import { listAcceptedHostAddresses, createListeningSocket } from "./front/socket.ts"
import { findMediaTools } from "../cli/media-tools.ts"
import { findFreePort } from "../cli/ports.ts"
import { startRunner } from "./runner-process.ts"
import { loadOrCreateSecrets, makeRandomSecret } from "../cli/secrets.ts"
import type { ServiceSecrets } from "../cli/secrets.ts"
import { makeStateFolder } from "../cli/state-folder.ts"
import { findUnknownSettingWarnings } from "./unknown-settings.ts"
import { startWorker, workerSocketPath } from "./worker.ts"
import type { LocalWorker, LocalWorkerSettings } from "./worker.ts"
import { setTimeout as sleep } from "node:timers/promises"
import { runnerHealthSchema } from "../../src/contract/runner-health.ts"
import { parseJson } from "../cli/parse-json.ts"

const START_PATIENCE_MS = 60_000
/**
 * Maximum wait for a working sandbox, in milliseconds: enough for a few self-tests, because the
 * first self-test may fail by chance.
 */
const SELF_TEST_PATIENCE_MS = 8000

/**
 * Port of the runner, the token that requests to the runner must carry (`token`), and the token
 * with which the runner announces its start to the Worker.
 */
type RunnerEndpoint = { port: number; token: string; announceToken: string }

export type RunningService = { secrets: ServiceSecrets; stop(): Promise<void> }

/**
 * Starts all parts of the service, and returns when the service handles requests. If a part fails
 * to start or `signal` is aborted, stops the running parts.
 */
export async function startService(
  wanted: ServiceConfig,
  runtime: WorkerdBuild,
  signal: AbortSignal,
): Promise<RunningService> {
  await using started = new AsyncDisposableStack()
  const config = { ...wanted, stateDir: makeStateFolder(wanted.stateDir) }
  const lock = lockStateDir(config.stateDir)
  started.defer(() => lock.release())

  const secrets = loadOrCreateSecrets(config.stateDir, process.env)
  const [token, announceToken] = [makeRandomSecret(), makeRandomSecret()]
  const endpoint = { port: await findFreePort(), token, announceToken }
  registerSecrets([...Object.values(secrets), token, announceToken])
  const bindings = bindingsFor(config, secrets, endpoint)
  await removeAbandonedSocketFolders(config.stateDir)
  const sockets = started.use(await createSocketFolder(config.stateDir))
  const socketPath = workerSocketPath(sockets.path)
  const { host, port, clientAddressHeader } = config
  // API clients wait at this socket until the Worker handles requests, also during a restart of
  // workerd.
  const { descriptor } = started.use(await createListeningSocket({ host, port }))
  // Runs a sweep after a restart, because a crash of workerd loses queue messages. The sweep finds
  // the jobs and webhooks whose messages were lost.
  const startingWorker: Promise<LocalWorker> = startWorker(config, bindings, runtime, {
    folder: sockets.path,
    descriptor,
    front: {
      port,
      addresses: listAcceptedHostAddresses(host),
      publicOrigin: settingsSchema.parse(bindings).PUBLIC_ORIGIN,
      clientAddressHeader,
    },
    onRestart: () => void startingWorker.then(sweepAgain),
  })
  // Parts stop in reverse order, because a runner that stops reports its runs to the Worker.
  disposeOnceStarted(started, startingWorker)
  started.use(
    startRunner({
      port: endpoint.port,
      token,
      capacity: config.runnerCapacity,
      workDir: join(config.stateDir, "work"),
      // Gives the runner no socket if IO_ORIGIN names a proxy, because all requests of the runner
      // must then pass through the proxy.
      ioSocket: process.env["IO_ORIGIN"] === undefined ? socketPath : null,
      announce: { url: `${ioOrigin(config)}/operator/runner-up`, token: announceToken },
    }),
  )
  const worker = await startingWorker
  await worker.migrate()
  signal.throwIfAborted()
  const clock = startPeriodicSweeps((stopping) => worker.sweep(stopping), config.sweepEveryMs)
  started.defer(() => clock.stop())
  await waitUntilServiceHealthy({ url: `${config.origin}/v1/health` }, START_PATIENCE_MS, signal)
  const runnerHealth = { url: `${originOf(endpoint)}/health`, token: endpoint.token }
  await waitUntilServiceHealthy(runnerHealth, START_PATIENCE_MS, signal)
  await requireSandbox(runnerHealth, SELF_TEST_PATIENCE_MS, signal)

  const running = started.move()
  return { secrets, stop: async () => await running.disposeAsync() }
}

/**
 * Makes the disposal of the service wait for a part that is still starting, and dispose of it. A
 * part whose start failed is skipped.
 */
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
 * Returns the Worker's settings: those of the environment, and those that this process determines.
 * RUNNER_ORIGIN and IO_ORIGIN of the environment may name proxies.
 */
function bindingsFor(
  config: ServiceConfig,
  secrets: ServiceSecrets,
  endpoint: RunnerEndpoint,
): LocalWorkerSettings {
  const bindings = {
    ...pickEnvironmentVariables(process.env, [...settingNames, ...workerSecretNames]),
    ...secrets,
    RUNNER_ORIGIN: process.env["RUNNER_ORIGIN"] ?? originOf(endpoint),
    RUNNER_TOKEN: endpoint.token,
    ANNOUNCE_TOKEN: endpoint.announceToken,
    RUNNER_CAPACITY: String(config.runnerCapacity),
    IO_ORIGIN: ioOrigin(config),
    FFMPEG_FACTS:
      process.env["FFMPEG_FACTS"] ?? readStoredFfmpegCapabilities(findMediaTools().ffmpeg),
  }
  const problems = findSettingProblems({ ...process.env, ...bindings })
  if (problems.length > 0) throw new CliError(`A setting is invalid. ${problems.join(" ")}`)
  for (const message of findUnknownSettingWarnings(process.env))
    log("warn", "setting.unknown", { message })
  return bindings
}

function originOf({ port }: RunnerEndpoint): string {
  return `http://127.0.0.1:${port}`
}

/**
 * Returns the origin at which the runner reaches the Worker: IO_ORIGIN of the environment, which
 * may name a proxy, else the address of the service.
 */
function ioOrigin(config: ServiceConfig): string {
  return process.env["IO_ORIGIN"] ?? config.origin
}

const POLL_MS = 50

/**
 * Waits until the runner's sandbox works, and prints its limitations. Throws a CliError if the
 * system supports no sandbox, or if no self-test passes within `patienceMs`.
 */
async function requireSandbox(
  endpoint: HealthEndpoint,
  patienceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + patienceMs
  for (;;) {
    const { body } = await requestServiceHealth(endpoint, signal)
    const { sandbox } = runnerHealthSchema.parse(parseJson(body))
    if (sandbox.ok) {
      for (const lack of [sandbox.loss, sandbox.network_problem])
        if (lack !== null) console.log(lack)
      return
    }
    if (!sandbox.supported || performance.now() > until) {
      throw new CliError(
        `Lathe runs no tool without a sandbox, and no sandbox works: ${sandbox.problem}.`,
      )
    }
    await sleep(POLL_MS, undefined, { signal })
  }
}

/** Names of settings whose values are never printed. */
const SECRET = /_(?:SECRET|TOKEN)$/

/**
 * Returns a sentence for each invalid setting of an environment, with its value unless it is a
 * secret.
 */
export function findSettingProblems(environment: Record<string, string | undefined>): string[] {
  const names = new Set<string>()
  const problems = settingsSchema
    .safeParse(environment)
    .error?.issues.flatMap(({ path, message }) => {
      const name = String(path[0])
      if (names.has(name)) return []
      names.add(name)
      const value = environment[name]
      const isShown = value !== undefined && !SECRET.test(name)
      return [`${name}${isShown ? ` is ${JSON.stringify(value)}` : ""}: ${message}.`]
    })
  return [...(problems ?? []), ...describeInvalidSecrets(environment)]
}

type Sweep = (stopping: AbortSignal) => Promise<unknown>

/**
 * Calls `sweep` at once, and again after each wait of `everyMs`, one call at a time. `stop` ends
 * the sweeps and aborts the signal of a running call.
 */
export function startPeriodicSweeps(sweep: Sweep, everyMs: number): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const ended = tick(sweep, everyMs, stopping.signal)
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

async function tick(sweep: Sweep, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await sweep(signal)
    } catch (error) {
      if (signal.aborted) return
      const message = "The sweep failed and is retried at its next time."
      log("error", "sweep.failed", { message, error: String(error) })
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined)
  }
}
