import type { IncomingMessage } from "node:http"
import type { WebLimits } from "./open-source.ts"
import { SourceError } from "./source-error.ts"

/** How slowly bodies come; only the time that somebody waits for their bytes counts. */
export type BodyWatch = {
  /** The chunks of a body; throws a SourceError where no byte comes for too long, or too few do. */
  chunksOf(response: IncomingMessage): AsyncGenerator<Uint8Array>
}

const LOOK_MS_MAX = 1000

/** Opens the watch over the bodies of one source, which may come in several answers. */
export function openBodyWatch(limits: WebLimits): BodyWatch {
  const { stallMs, slowMs, bytesPerSecondMin } = limits
  let waitedMs = 0
  let bytes = 0
  function count(chunk: Uint8Array, tookMs: number): void {
    waitedMs += tookMs
    bytes += chunk.length
    if (waitedMs < slowMs) return
    if (bytes < (bytesPerSecondMin * waitedMs) / 1000) {
      const rate = Math.round((bytes * 1000) / waitedMs)
      throw new SourceError("too_slow", `The server sends only ${rate} bytes a second.`)
    }
    waitedMs = 0
    bytes = 0
  }
  return {
    async *chunksOf(response) {
      let waitsSinceMs: number | null = null
      const timer = setInterval(
        () => {
          if (waitsSinceMs === null || performance.now() - waitsSinceMs < stallMs) return
          const message = `The server sent nothing for ${Math.round(stallMs / 1000)} seconds.`
          response.destroy(new SourceError("too_slow", message, { isPassing: true }))
        },
        Math.min(LOOK_MS_MAX, stallMs / 4),
      )
      try {
        const chunks: AsyncIterator<unknown> = response[Symbol.asyncIterator]()
        for (;;) {
          const askedMs = performance.now()
          waitsSinceMs = askedMs
          const next = await chunks.next()
          waitsSinceMs = null
          if (next.done === true) return
          if (!(next.value instanceof Uint8Array)) throw new TypeError("The body is no bytes.")
          count(next.value, performance.now() - askedMs)
          yield next.value
        }
      } finally {
        clearInterval(timer)
        response.destroy()
      }
    },
  }
}
