import type { JobRecord } from "../../../kinds/job-record.ts"

export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
}

/** Delay in milliseconds after which clients reconnect to an interrupted stream. */
const RETRY_MS = 1000

/** Returns the event id of a job record: equal records have equal ids, also after a reconnect. */
export function computeEventId(record: JobRecord): string {
  const { status, attempts, progress, progress_detail: detail } = record
  return [status, attempts, progress ?? "", ...Object.values(detail ?? {})].join(".")
}

/**
 * Streams the states of a job as server-sent events: `state` for a new state, `progress` for new
 * progress, and a comment as a ping. `lastSeen` is the client's `Last-Event-ID`.
 */
export function streamEvents<State>(
  states: AsyncGenerator<State>,
  lastSeen: string | null,
  view: (state: State) => JobRecord,
): ReadableStream<Uint8Array> {
  const chunks = writeEvents(states, lastSeen, view)
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

async function* writeEvents<State>(
  states: AsyncGenerator<State>,
  lastSeen: string | null,
  view: (state: State) => JobRecord,
): AsyncGenerator<string, void> {
  yield `retry: ${RETRY_MS}\n\n`
  let lastId = lastSeen ?? ""
  for await (const state of states) {
    const record = view(state)
    const id = computeEventId(record)
    yield id === lastId ? ": ping\n\n" : formatEvent(record, id, lastId)
    lastId = id
  }
}

function formatEvent(record: JobRecord, id: string, cursor: string): string {
  const isSameState = cursor.startsWith(`${record.status}.${record.attempts}.`)
  const event = isSameState ? "progress" : "state"
  return `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(record)}\n\n`
}
