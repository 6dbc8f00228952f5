import { env } from "cloudflare:workers"
import { vi } from "vitest"
import type { Failure } from "../../../src/contract/failure.ts"
import { RUNNER_BOOT_ID_HEADER, makeRunnerHeaders } from "../../../src/contract/protocol.ts"
import { taskOrderSchema } from "../../../src/contract/task.ts"
import type { TaskOrder } from "../../../src/contract/task.ts"
import { fetchWorker } from "../caller.ts"
import { TEST_BOOT_ID } from "../media/bundle.ts"

/** Outcome of a task: the result with the contents of the outputs by key, or the failure. */
export type TaskOutcome =
  | { outputs?: Record<string, string>; result: object }
  | { failure: Failure }

/** URL of the fake webhook receiver. */
export const WEBHOOK_RECEIVER_URL = "https://receiver.example/told"

/**
 * Replaces `fetch` by a fake runner without containers, which reads the inputs of each task and
 * then calls `work`. Requests to `WEBHOOK_RECEIVER_URL` get status 204.
 */
export function startFakePlainRunner(work: (order: TaskOrder) => Promise<TaskOutcome>): void {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    if (request.url === WEBHOOK_RECEIVER_URL) return new Response(null, { status: 204 })
    if (!request.url.startsWith(`${env.RUNNER_ORIGIN}/`)) throw new Error("there is no network")
    if (request.method !== "POST") return Response.json({})
    const order = taskOrderSchema.parse(await request.json())
    void run(order, work)
    return Response.json({ boot: TEST_BOOT_ID }, { status: 202 })
  })
}

async function run(
  order: TaskOrder,
  work: (order: TaskOrder) => Promise<TaskOutcome>,
): Promise<void> {
  await report(order, { kind: "started" })
  for (const { key } of order.inputs) await (await callIo(order, `/inputs/${key}`)).arrayBuffer()
  const done = await work(order)
  if ("failure" in done) {
    await report(order, { kind: "failed", processing_seconds: 0.1, blame: "caller", ...done })
    return
  }
  const { outputs = {}, result } = done
  for (const [key, body] of Object.entries(outputs)) {
    await callIo(order, `/outputs/${key}`, {
      method: "PUT",
      headers: { "content-type": "video/mp4", "content-length": String(body.length) },
      body,
    })
  }
  await report(order, { kind: "finished", processing_seconds: 0.1, result })
}

/**
 * Reports the progress of a task in percent. Throws if the service refuses the report, which tells
 * a runner to kill the task's tools.
 */
export async function reportProgress(order: TaskOrder, percent: number): Promise<void> {
  await report(order, { kind: "progress", percent })
}

async function report(order: TaskOrder, said: object): Promise<void> {
  const body = JSON.stringify({ boot: TEST_BOOT_ID, at: new Date().toISOString(), ...said })
  await callIo(order, "/reports", { method: "POST", body })
}

/** Calls an I/O route of the service. Throws if the service refuses the call. */
async function callIo(
  order: TaskOrder,
  path: string,
  init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {},
): Promise<Response> {
  const { origin, token } = order.io
  const answer = await fetchWorker(new URL(origin).pathname + path, {
    ...init,
    headers: {
      ...makeRunnerHeaders(token),
      [RUNNER_BOOT_ID_HEADER]: TEST_BOOT_ID,
      ...init.headers,
    },
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer
}
