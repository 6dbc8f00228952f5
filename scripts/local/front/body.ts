/** A stream of workerd's own: an answer by it says its length in its head. */
declare const FixedLengthStream: new (bytes: number) => TransformStream<Uint8Array, Uint8Array>

/** How long a refused body is read on, so that its sender gets to read the answer. */
const REST_MS_MAX = 10_000
const ROOM_BYTES = 64 * 1024

/** The body of a request in the hands of the Worker, which may leave it unread. */
export type HeldBody = {
  /** Read by the Worker; to cancel it stops nothing. */
  readonly passed: ReadableStream<Uint8Array>
  /** What of the body was read so far. */
  readonly state: "untouched" | "begun" | "ended"
  /** Reads and drops the rest of the body, for a bounded time. */
  drop(): Promise<void>
}

/** Hands out a body piece by piece, each into the room that its reader gives. */
export function holdBody(body: ReadableStream<Uint8Array<ArrayBuffer>>): HeldBody {
  const reader = body.getReader({ mode: "byob" })
  let state: HeldBody["state"] = "untouched"
  async function pull(controller: ReadableByteStreamController): Promise<void> {
    const request = controller.byobRequest
    if (!request?.view) return
    state = "begun"
    const { buffer, byteOffset, byteLength } = request.view
    const { done, value } = await reader.read(new Uint8Array(buffer, byteOffset, byteLength))
    if (!done) return request.respondWithNewView(value)
    state = "ended"
    controller.close()
    request.respond(0)
  }
  async function drop(): Promise<void> {
    const timer = setTimeout(() => void reader.cancel().catch(() => undefined), REST_MS_MAX)
    let room = new Uint8Array(ROOM_BYTES)
    try {
      for (;;) {
        const { done, value } = await reader.read(room)
        if (done) return
        room = new Uint8Array(value.buffer)
      }
    } catch {
      // The sender is gone, or its time is over.
    } finally {
      clearTimeout(timer)
    }
  }
  const source = { type: "bytes", autoAllocateChunkSize: ROOM_BYTES, pull } as const
  return {
    passed: new ReadableStream(source, { highWaterMark: 0 }),
    get state() {
      return state
    },
    drop,
  }
}

/**
 * Sends a refusal at once, and ends it when the rest of the body was dropped: workerd closes a connection
 * whose answer ends before its body, and a sender that fails to write never reads the answer.
 */
export async function refuseBody(
  answer: Response,
  body: HeldBody,
  context: { waitUntil(promise: Promise<unknown>): void },
): Promise<Response> {
  const bytes = await answer.bytes()
  const { readable, writable } = new FixedLengthStream(bytes.byteLength)
  async function send(): Promise<void> {
    const writer = writable.getWriter()
    await writer.write(bytes)
    await body.drop()
    await writer.close()
  }
  context.waitUntil(send().catch(() => undefined))
  return new Response(readable, answer)
}
