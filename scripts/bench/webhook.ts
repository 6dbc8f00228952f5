import { text } from "node:stream/consumers"
import pWaitFor from "p-wait-for"
import { z } from "zod"
import { startLoopbackServer } from "../local/loopback-server.ts"
import { openCaller } from "./caller.ts"
import type { Caller } from "./caller.ts"
import { formatMs, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { BenchScope } from "./scope.ts"
import { submitCommand } from "./requests.ts"
import { startBenchService } from "./service.ts"
import { median, repeat, timeMs } from "./statistics.ts"

const TIMES = 30
const DRIPPING = 4
const DRIP_MS = 1000
const GOAL_MS = 100
const BESIDE_GOAL_MS = 200

const event = z.object({ data: z.object({ id: z.string(), completed_at: z.iso.datetime() }) })

/** From a job's end until its webhook arrives, alone and while other receivers answer slowly. */
export async function benchWebhook(scope: BenchScope): Promise<Figure[]> {
  const receiver = await openReceiver(scope)
  const slow = await openReceiver(scope)
  const service = await startBenchService(scope, {
    settings: { ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  })
  const { caller } = service
  const bare = openCaller(receiver.origin)
  scope.defer(() => bare.close())
  const bareMs = median(await repeat(TIMES, () => timeMs(() => bare.ask("GET", "/"))))
  const aloneMs = median(await repeat(TIMES, () => receiver.delayMs(caller)))
  for (let index = 0; index < DRIPPING; index += 1) await submit(caller, `${slow.origin}/drip`)
  await slow.untilDripping(DRIPPING)
  const besideMs = Math.max(...(await repeat(TIMES, () => receiver.delayMs(caller))))
  return [
    figure("webhook: job final until received, p50", aloneMs, bareMs, GOAL_MS),
    figure(
      `webhook: the same beside ${DRIPPING} that drip, longest`,
      besideMs,
      aloneMs,
      BESIDE_GOAL_MS,
    ),
  ]
}

function figure(name: string, measured: number, reference: number, goalMs: number): Figure {
  return {
    name,
    measured: formatMs(measured),
    reference: formatMs(reference),
    comparison: formatRatio(measured / reference),
    goal: `<= ${goalMs} ms`,
    isMet: measured <= goalMs,
  }
}

function submit(caller: Caller, webhook: string): Promise<string> {
  return submitCommand(caller, {
    ffmpeg_command: "ffmpeg -f lavfi -i color=s=16x16:d=0.04 -c:v mpeg4 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.mp4" },
    webhook,
  })
}

/** A receiver that answers at once, and at /drip with a byte each second. */
async function openReceiver(scope: BenchScope) {
  const heard = new Map<string, (delayMs: number) => void>()
  let dripping = 0
  const server = await startLoopbackServer((request, response) => {
    const receivedAt = Date.now()
    if (request.url === "/drip") {
      dripping += 1
      const timer = setInterval(() => response.write("."), DRIP_MS)
      response.once("close", () => clearInterval(timer))
      response.write(".")
      return
    }
    response.end()
    if (request.method !== "POST") return
    void text(request).then((body) => {
      const { data } = event.parse(JSON.parse(body))
      heard.get(data.id)?.(receivedAt - Date.parse(data.completed_at))
    })
  })
  const { origin } = scope.use(server)
  return {
    origin,
    /** Makes a job and answers how long after its end its webhook arrived, in milliseconds. */
    async delayMs(caller: Caller): Promise<number> {
      const { promise, resolve } = Promise.withResolvers<number>()
      heard.set(await submit(caller, origin), resolve)
      return await promise
    },
    async untilDripping(count: number): Promise<void> {
      await pWaitFor(() => dripping >= count)
    },
  }
}
