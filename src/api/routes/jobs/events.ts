import type { JobRecord } from "../../../kinds/job-record.ts"

export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
}

/**
 * Maximum duration of an event stream in milliseconds. Clients reconnect and are authenticated
 * again.
 */
export const EVENT_STREAM_MS_MAX = 15 * 60_000

/** Delay in milliseconds after which clients reconnect to an interrupted stream. */
const RETRY_MS = 1000

/**
 * Record that an event stream sends. Records with the same `state` differ only in their progress.
 * Records with the same event id (`id`) are equal, even after a reconnect.
 */
export type StreamedRecord = { record: object; state: string; id: string }

/** Returns a job record with its state and event id for an event stream. */
export function toStreamedJob(record: JobRecord): StreamedRecord {
  const { status, attempts, waiting_for = [], progress, progress_detail: detail } = record
  const state = [
    status,
    attempts,
    ...(waiting_for.length > 0 ? [waiting_for.length] : []),
    "",
  ].join(".")
  return { record, state, id: state + [progress ?? "", ...Object.values(detail ?? {})].join(".") }
}

/**
 * Streams states as server-sent events: `state` for a new state, `progress` for new progress, and a
 * comment as a ping. `lastSeen` is the client's `Last-Event-ID`.
 */
export function streamJobEvents<State>(
  states: AsyncGenerator<State>,
  lastSeen: string | null,
  view: (state: State) => StreamedRecord,
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
  view: (state: State) => StreamedRecord,
): AsyncGenerator<string, void> {
  yield `retry: ${RETRY_MS}\n\n`
  let lastId = lastSeen ?? ""
  for await (const state of states) {
    const streamed = view(state)
    yield streamed.id === lastId ? ": ping\n\n" : formatEvent(streamed, lastId)
    lastId = streamed.id
  }
}

function formatEvent({ record, state, id }: StreamedRecord, lastId: string): string {
  const event = lastId.startsWith(state) ? "progress" : "state"
  return `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(record)}\n\n`
}
