import { json } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import {
  RUNNER_BOOT_ID_HEADER,
  HEARTBEAT_INTERVAL_MS,
  makeRunnerHeaders,
} from "../../../src/contract/protocol.ts"
import { taskOrderSchema } from "../../../src/contract/task.ts"
import type { TaskOrder } from "../../../src/contract/task.ts"
import { startLoopbackServer } from "../../cli/loopback-server.ts"

const BOOT = "pretended"
const OUTPUT = Buffer.from("not a film, but stored as one")
const TRIES_MAX = 5
const RETRY_MS = 200

/**
 * Simulated runner, which accepts every task, reads the task's inputs and stores outputs without
 * running a tool.
 */
export type SimulatedRunner = AsyncDisposable & {
  origin: string
  /**
   * Ids of the jobs of which the service accepted the last report, and the number of runs that the
   * service told the runner to kill.
   */
  ended: { finished: Set<string>; killed: number }
}

/**
 * Starts a simulated runner on loopback. Each task lasts for the time that `drawMs` returns. The
 * runner calls `onOrder` with each request to run a task (its order).
 */
export async function startSimulatedRunner(
  drawMs: () => number,
  onOrder: (order: TaskOrder) => void,
): Promise<SimulatedRunner> {
  const ended = { finished: new Set<string>(), killed: 0 }
  const server = await startLoopbackServer((request, response) => {
    void answer().catch((error: unknown) => response.writeHead(500).end(String(error)))
    async function answer(): Promise<void> {
      if (request.method !== "POST") return void response.end("{}")
      const order = taskOrderSchema.parse(await json(request))
      response.writeHead(202, { "content-type": "application/json" })
      response.end(JSON.stringify({ boot: BOOT }))
      onOrder(order)
      if ((await run(order, drawMs())) === "finished") ended.finished.add(order.job_id)
      else ended.killed += 1
    }
  })
  return { ...server, ended, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

async function run(order: TaskOrder, workMs: number): Promise<"finished" | "killed"> {
  const { kind, outputs = [] } = order.work
  if (!(await report(order, { kind: "started" }))) return "killed"
  for (const { key } of order.inputs) {
    if (!(await callIo(order, `/inputs/${key}`))) return "killed"
  }
  for (let left = workMs; left > 0; left -= HEARTBEAT_INTERVAL_MS) {
    await sleep(Math.min(left, HEARTBEAT_INTERVAL_MS))
    if (left > HEARTBEAT_INTERVAL_MS && !(await report(order, { kind: "progress", percent: 50 }))) {
      return "killed"
    }
  }
  for (const { key } of outputs) {
    const headers = { "content-type": "video/mp4", "content-length": String(OUTPUT.length) }
    const stored = await callIo(order, `/outputs/${key}`, { method: "PUT", headers, body: OUTPUT })
    if (!stored) return "killed"
  }
  const result = kind === "probe" ? { kind, probe: PROBE } : { kind, outputs: outputs.map(madeOf) }
  const end = { kind: "finished", processing_seconds: workMs / 1000, result }
  return (await report(order, end)) ? "finished" : "killed"
}

const PROBE = { width: 4, height: 2, duration: 1, format_name: "webm", streams: [], format: {} }

function madeOf({ key }: { key: string }) {
  return { key, size_bytes: OUTPUT.length, content_type: "video/mp4", probe: PROBE }
}

async function report(order: TaskOrder, fields: object): Promise<boolean> {
  const body = JSON.stringify({ boot: BOOT, at: new Date().toISOString(), ...fields })
  return await callIo(order, "/reports", { method: "POST", body })
}

/**
 * Calls a route of the Worker with the task's token. Returns false if the service has ended this
 * run of the task. Repeats calls that fail for another reason.
 */
async function callIo(
  order: TaskOrder,
  path: string,
  init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {},
): Promise<boolean> {
  const { origin, token } = order.io
  const headers = { ...makeRunnerHeaders(token), [RUNNER_BOOT_ID_HEADER]: BOOT, ...init.headers }
  for (let tries = 1; ; tries += 1) {
    try {
      const answer = await fetch(origin + path, { ...init, headers })
      await answer.arrayBuffer()
      if (answer.ok) return true
      if (answer.status === 410) return false
      if (tries === TRIES_MAX) throw new Error(`${path} was answered ${answer.status}`)
    } catch (error) {
      if (tries === TRIES_MAX) throw error
    }
    await sleep(RETRY_MS * tries)
  }
}
