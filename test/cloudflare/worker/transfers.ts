import { STALLED_BYTES_MIN, TRANSFER_BYTES_PER_SECOND } from "../switches.ts"
import type { Switch } from "../switches.ts"

type Body = ReadableStream<Uint8Array>

export type OutboundHandler<Env, Context> = (
  request: Request,
  env: Env,
  context: Context,
) => Promise<Response> | Response

/** Which switches are on, and where it is noted that something met one. */
type Platform = { switches: ReadonlySet<Switch>; note: (what: string) => void }

const STEP_BYTES = 64 * 1024
/** A wait that workerd knows of: without one it ends a request that nothing will come of. */
const STALL_MS = 3_600_000

/** Transfers that were stalled once. */
const stalled = new Set<string>()

/** Has what passes an outbound handler come and go as it does on the platform. */
export function onPlatform<Env, Context>(
  handler: OutboundHandler<Env, Context>,
  platform: Platform,
): OutboundHandler<Env, Context> {
  return async (request, env, context) => {
    const name = `${request.method} ${new URL(request.url).pathname}`
    const sent = passed(request.body, name, request.headers, platform)
    const answer = await handler(
      sent === request.body
        ? request
        : new Request(request, { method: request.method, body: sent }),
      env,
      context,
    )
    const received = passed(answer.body, `answer to ${name}`, answer.headers, platform)
    return received === answer.body ? answer : new Response(received, answer)
  }
}

/** The body as it arrives; the same one where nothing happens to it. */
function passed(
  body: Body | null,
  name: string,
  headers: Headers,
  { switches, note }: Platform,
): Body | null {
  if (!body) return null
  const isRequest = !name.startsWith("answer")
  const steps: TransformStream<Uint8Array, Uint8Array>[] = []
  if (switches.has("slow-transfers")) {
    note(`slow: ${name}`)
    steps.push(slowly())
  }
  const bytes = Number(headers.get("content-length") ?? 0)
  if (switches.has("stalled-transfers") && bytes >= STALLED_BYTES_MIN && !stalled.has(name)) {
    stalled.add(name)
    note(`stalled: ${name}`)
    steps.push(stallAfter(bytes / 2))
  }
  if (switches.has("unmeasured-bodies") && isRequest) {
    note(`without a length: ${name}`)
    steps.push(new TransformStream())
  }
  return steps.reduce((rest: Body, step) => rest.pipeThrough(step), body)
}

function slowly(): TransformStream<Uint8Array, Uint8Array> {
  const begunAt = Date.now()
  let bytes = 0
  return new TransformStream({
    async transform(chunk, controller) {
      for (let at = 0; at < chunk.byteLength; at += STEP_BYTES) {
        const step = chunk.subarray(at, at + STEP_BYTES)
        bytes += step.byteLength
        const dueAt = begunAt + (bytes / TRANSFER_BYTES_PER_SECOND) * 1000
        await scheduler.wait(Math.max(0, dueAt - Date.now()))
        controller.enqueue(step)
      }
    },
  })
}

function stallAfter(bytesMax: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    async transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) await scheduler.wait(STALL_MS)
      controller.enqueue(chunk)
    },
  })
}
