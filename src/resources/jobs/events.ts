import type { JobRecord } from "../../kinds/job-record.ts"

export const EVENT_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
}

/** When a client that lost its stream is to come back, in milliseconds. */
const RETRY_MS = 1000

/** The id of the event that says all there is to say of a job as it is now. */
export function lastEventOf(record: JobRecord): string {
  const { status, attempts, progress, progress_detail: detail } = record
  return [status, attempts, progress ?? "", ...Object.values(detail ?? {})].join(".")
}

/**
 * A job's states as server-sent events: `state` where its state is new, `progress` where only that
 * is, a comment where nothing is. `lastSeen` is the id of the last event that the client had.
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
  let seen = lastSeen ?? ""
  for await (const state of states) {
    const record = view(state)
    const id = lastEventOf(record)
    yield id === seen ? ": ping\n\n" : formatEvent(record, id, seen)
    seen = id
  }
}

function formatEvent(record: JobRecord, id: string, seen: string): string {
  const isSameState = seen.startsWith(`${record.status}.${record.attempts}.`)
  const event = isSameState ? "progress" : "state"
  return `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(record)}\n\n`
}
