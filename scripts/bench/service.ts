import { EventEmitter } from "node:events"
import { readRunnerLine } from "../local/runner-line.ts"
import { startServiceProcess } from "../local/service-process.ts"
import type { ServiceProcess } from "../local/service-process.ts"
import { openCaller } from "../local/client/caller.ts"
import type { Caller } from "../local/client/caller.ts"
import type { BenchScope } from "./scope.ts"

const EVENT_MS_MAX = 180_000

/** A service that the benchmark started, and what can be observed of it. */
export type BenchService = Pick<ServiceProcess, "origin" | "pid" | "onLine" | "makeKey"> & {
  /** A client with a key of an account of the plan `paid`. */
  caller: Caller
  /** A client of another account of the same plan. */
  openAccount(name: string): Promise<Caller>
  /** When the runner logged this event of a job, in milliseconds since the epoch; waits for it. */
  whenLogged: (event: string, jobId: string) => Promise<number>
  stop(): Promise<void>
}

/** Starts the service; on the state folder of an earlier one it continues that one's jobs. */
export async function startBenchService(
  scope: BenchScope,
  options: {
    stateDir?: string
    runnerCapacity?: number
    /** Settings of the service. */
    settings?: Record<string, string>
    /** The words after `node` that start another service than that of `npm start`. */
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
  async function openAccount(name: string): Promise<Caller> {
    const key = await service.makeKey(name, "paid")
    const caller = openCaller(service.origin, { "x-api-key": key })
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
  const said = new Map<string, number>()
  const emitter = new EventEmitter().setMaxListeners(0)
  onLine((line) => {
    const read = readRunnerLine(line)
    if (!read) return
    const name = `${read.event} ${read.jobId}`
    if (said.has(name)) return
    said.set(name, read.atMs)
    emitter.emit(name)
  })
  return async (event: string, jobId: string): Promise<number> => {
    const name = `${event} ${jobId}`
    if (!said.has(name)) {
      const signal = AbortSignal.timeout(EVENT_MS_MAX)
      await EventEmitter.once(emitter, name, { signal })
    }
    return said.get(name) ?? 0
  }
}
