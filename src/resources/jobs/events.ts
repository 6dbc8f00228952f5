import type { viewJob } from "./view.ts"

type Record = ReturnType<typeof viewJob>

export const EVENT_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
}

/** When a client that lost its stream is to come back, in milliseconds. */
const RETRY_MS = 1000

/** The id of the event that says all there is to say of a job as it is now. */
export function lastEventOf({ status, attempts, progress }: Record): string {
  return `${status}.${attempts}.${progress}`
}

/**
 * A job's steps as server-sent events: `state` where its state is new, `progress` where only that
 * is, a comment where nothing is. `lastSeen` is the id of the last event that the client had.
 */
export function streamEvents<Step>(
  steps: AsyncGenerator<Step>,
  lastSeen: string | null,
  view: (step: Step) => Record,
): ReadableStream<Uint8Array> {
  const chunks = writeEvents(steps, lastSeen, view)
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next()
        if (next.done) controller.close()
        else controller.enqueue(encoder.encode(next.value))
      },
      cancel() {
        void chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

async function* writeEvents<Step>(
  steps: AsyncGenerator<Step>,
  lastSeen: string | null,
  view: (step: Step) => Record,
): AsyncGenerator<string, void> {
  yield `retry: ${RETRY_MS}\n\n`
  let seen = lastSeen ?? ""
  for await (const step of steps) {
    const record = view(step)
    const id = lastEventOf(record)
    yield id === seen ? ": ping\n\n" : formatEvent(record, id, seen)
    seen = id
  }
}

function formatEvent(record: Record, id: string, seen: string): string {
  const isSameState = seen.startsWith(`${record.status}.${record.attempts}.`)
  const event = isSameState ? "progress" : "state"
  return `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(record)}\n\n`
}
