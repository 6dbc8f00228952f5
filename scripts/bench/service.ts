import { EventEmitter } from "node:events"
import { z } from "zod"
import { createKey } from "../keys/operator.ts"
import { freePort } from "../local/ports.ts"
import { storedSecrets } from "../local/secrets.ts"
import { openCaller } from "./caller.ts"
import type { Caller } from "./caller.ts"
import type { Lab } from "./lab.ts"

const EVENT_MS_MAX = 60_000

/** A service of the benchmark's own, and what it lets the benchmark see. */
export type BenchService = {
  /** Asks as an account of the plan `paid`. */
  caller: Caller
  /** A caller of another account, of the same plan. */
  openAccount(name: string): Promise<Caller>
  /** Process id of the start script, whose children workerd and the runner are. */
  pid: number
  /** When the runner said this event of a job, in milliseconds since the epoch; waits for it. */
  whenSaid: (event: string, jobId: string) => Promise<number>
  stop(): Promise<void>
}

const runnerLine = z.object({ event: z.string(), at: z.iso.datetime(), job_id: z.string() })

/** Starts the service; with the state folder of an earlier one it goes on with its jobs. */
export async function startBenchService(
  lab: Lab,
  options: {
    stateDir?: string
    runnerCapacity?: number
    /** Settings of the service. */
    settings?: Record<string, string>
  } = {},
): Promise<BenchService> {
  const stateDir = options.stateDir ?? lab.makeFolder()
  const port = await freePort()
  const program = await lab.start("scripts/start.ts", /^Lathe serves /, {
    PORT: String(port),
    STATE_DIR: stateDir,
    ...options.settings,
    ...(options.runnerCapacity && { RUNNER_CAPACITY: String(options.runnerCapacity) }),
  })
  const whenSaid = readEvents((listener) => program.onLine(listener))
  const origin = `http://127.0.0.1:${port}`
  const token = storedSecrets(stateDir)?.OPERATOR_TOKEN ?? ""
  async function openAccount(name: string): Promise<Caller> {
    const account = { account: name, plan: "paid" as const }
    const { key } = await createKey({ origin, token, isLocal: true }, account)
    const caller = openCaller(origin, { "x-api-key": key })
    lab.defer(() => caller.close())
    return caller
  }
  const caller = await openAccount("bench")
  return { caller, openAccount, pid: program.pid, whenSaid, stop: () => program.stop() }
}

function readEvents(onLine: (listener: (line: string) => void) => void) {
  const said = new Map<string, number>()
  const emitter = new EventEmitter().setMaxListeners(0)
  onLine((line) => {
    const { data } = runnerLine.safeParse(parseJson(line))
    if (!data) return
    const name = `${data.event} ${data.job_id}`
    if (said.has(name)) return
    said.set(name, Date.parse(data.at))
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

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
