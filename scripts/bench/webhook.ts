import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { z } from "zod"
import { openCaller } from "./caller.ts"
import type { Caller } from "./caller.ts"
import { formatMs, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { Lab } from "./lab.ts"
import { submitCommand } from "./requests.ts"
import { startBenchService } from "./service.ts"
import { median, timeMs } from "./statistics.ts"

const TIMES = 30
const DRIPPING = 4
const DRIP_MS = 1000
const GOAL_MS = 100
const BESIDE_GOAL_MS = 200

const event = z.object({ data: z.object({ id: z.string(), completed_at: z.iso.datetime() }) })

/** From a job's end until its webhook is there, alone and while another receiver drips. */
export async function benchWebhook(lab: Lab): Promise<Figure[]> {
  const receiver = await openReceiver(lab)
  const slow = await openReceiver(lab)
  const service = await startBenchService(lab, {
    settings: { ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  })
  const { caller } = service
  const bare = openCaller(receiver.origin)
  lab.defer(() => bare.close())
  const bareMs = median(await repeat(() => timeMs(() => bare.ask("GET", "/"))))
  const aloneMs = median(await repeat(() => receiver.delayMs(caller)))
  for (let index = 0; index < DRIPPING; index += 1) await submit(caller, `${slow.origin}/drip`)
  await slow.untilDripping(DRIPPING)
  const besideMs = Math.max(...(await repeat(() => receiver.delayMs(caller))))
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

async function repeat(work: () => Promise<number>): Promise<number[]> {
  const measured: number[] = []
  for (let time = 0; time < TIMES; time += 1) measured.push(await work())
  return measured
}

function submit(caller: Caller, webhook: string): Promise<string> {
  return submitCommand(caller, {
    ffmpeg_command: "ffmpeg -f lavfi -i color=s=16x16:d=0.04 -c:v mpeg4 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.mp4" },
    webhook,
  })
}

/** A receiver that answers at once, and at /drip a byte each second. */
async function openReceiver(lab: Lab) {
  const heard = new Map<string, (delayMs: number) => void>()
  let dripping = 0
  const server = createServer((request, response) => {
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
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  lab.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the receiver has no port")
  const origin = `http://127.0.0.1:${address.port}`
  return {
    origin,
    /** Makes a job and answers how long after its end it was heard of, in milliseconds. */
    async delayMs(caller: Caller): Promise<number> {
      const { promise, resolve } = Promise.withResolvers<number>()
      heard.set(await submit(caller, origin), resolve)
      return await promise
    },
    async untilDripping(count: number): Promise<void> {
      while (dripping < count) await new Promise((resolve) => setTimeout(resolve, 10))
    },
  }
}
