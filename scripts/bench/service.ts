import { EventEmitter } from "node:events"
import { parseRunnerLogEvent } from "../start/runner-line.ts"
import { startServiceProcess } from "../cli/service-process.ts"
import type { ServiceProcess } from "../cli/service-process.ts"
import { createApiCaller } from "../cli/client/caller.ts"
import type { ApiCaller } from "../cli/client/caller.ts"
import type { BenchResources } from "./scope.ts"

const EVENT_MS_MAX = 180_000

/** Service that a benchmark started, with API clients (callers) and access to the service's log. */
export type BenchService = Pick<ServiceProcess, "origin" | "pid" | "onLine" | "makeKey"> & {
  /** API client with a key of an account with the plan `paid`. */
  caller: ApiCaller
  /** Creates another account with the plan `paid`. Returns a caller of that account. */
  openAccount(name: string): Promise<ApiCaller>
  /**
   * Waits until the runner has logged an event of a job. Returns the time of the log line, in
   * milliseconds since the epoch.
   */
  whenLogged: (event: string, jobId: string) => Promise<number>
  stop(): Promise<void>
}

/**
 * Starts a service for a benchmark. If `stateDir` is the state folder of an earlier service, the
 * new service continues the jobs of the earlier one.
 */
export async function startBenchService(
  scope: BenchResources,
  options: {
    stateDir?: string
    runnerCapacity?: number
    /** Settings of the service as environment variables. */
    settings?: Record<string, string>
    /**
     * Arguments of `node` that start a changed service, such as one that counts its D1 queries. By
     * default, the service of `npm start` is started.
     */
    words?: [string, ...string[]]
  } = {},
): Promise<BenchService> {
  const { stateDir, runnerCapacity, words } = options
  const service = scope.use(
    await startServiceProcess({
      ...(stateDir !== undefined && { stateDir }),
      ...(words && { words }),
      settings: {
        ...options.settings,
        ...(runnerCapacity !== undefined && { RUNNER_CAPACITY: String(runnerCapacity) }),
      },
      signal: scope.signal,
    }),
  )
  const whenLogged = readEvents(service.onLine)
  async function openAccount(name: string): Promise<ApiCaller> {
    const key = await service.makeKey(name, "paid")
    const caller = createApiCaller(service.origin, { "x-api-key": key })
    scope.defer(() => caller.close())
    return caller
  }
  return {
    ...service,
    caller: await openAccount("bench"),
    openAccount,
    whenLogged,
    stop: async () => await service[Symbol.asyncDispose](),
  }
}

function readEvents(onLine: (listener: (line: string) => void) => void) {
  const atByName = new Map<string, number>()
  const emitter = new EventEmitter().setMaxListeners(0)
  onLine((line) => {
    const event = parseRunnerLogEvent(line)
    if (!event) return
    const name = `${event.event} ${event.jobId}`
    if (atByName.has(name)) return
    atByName.set(name, event.atMs)
    emitter.emit(name)
  })
  return async (event: string, jobId: string): Promise<number> => {
    const name = `${event} ${jobId}`
    if (!atByName.has(name)) {
      const signal = AbortSignal.timeout(EVENT_MS_MAX)
      await EventEmitter.once(emitter, name, { signal })
    }
    return atByName.get(name) ?? 0
  }
}
