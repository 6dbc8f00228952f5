import { setTimeout as sleep } from "node:timers/promises"
import { requestRestOfSource } from "./request-source.ts"
import type { SourceResponse, SourceLimits, SourceRequest } from "./request-source.ts"
import { SourceChangedError, SourceError, toSourceError } from "./source-error.ts"
import type { SourceProperties } from "./source-properties.ts"
import type { IncomingMessage } from "node:http"

/**
 * Maximum number of broken connections in succession, each of which delivered less than
 * `PROGRESS_BYTES_MIN` bytes.
 */
const CUTS_MAX = 6
const PROGRESS_BYTES_MIN = 1024 * 1024
const DELAY_MS_MAX = 10_000

export type DownloadSourceOptions = {
  /** Response whose body is not read yet; null if the first request is not sent yet. */
  answer: SourceResponse | null
  position: number
  onPosition: (position: number) => void
}

/**
 * Yields the bytes of a source from a position on, without decoding content codings. If the
 * connection breaks, requests the rest of the source. Throws a SourceError if the bytes cannot be
 * downloaded, and a SourceChangedError if the rest belongs to a different version of the source.
 */
export async function* downloadSourceBytes(
  request: SourceRequest,
  first: SourceProperties,
  { answer, position, onPosition }: DownloadSourceOptions,
): AsyncGenerator<Uint8Array> {
  const watch = openBodyWatch(request.limits)
  let at = position
  let cuts = { count: 0, at }
  for (let next = answer; ; next = null) {
    try {
      const opened = next ?? (await requestRestOfSource(request, first, at))
      if (opened === "at its end") return
      const { response, facts } = opened
      let skipped = at - facts.offset
      for await (const chunk of watch.chunksOf(response)) {
        const news = chunk.subarray(Math.min(skipped, chunk.length))
        skipped -= chunk.length - news.length
        at += news.length
        onPosition(at)
        if (news.length > 0) yield news
      }
      if (!response.complete) throw cutOff(at)
      const length = first.length ?? facts.length
      if (length === null || at === length) return
      throw cutOff(at)
    } catch (error) {
      request.signal.throwIfAborted()
      if (error instanceof SourceChangedError) throw error
      const count = at - cuts.at >= PROGRESS_BYTES_MIN ? 1 : cuts.count + 1
      cuts = { count, at }
      const failed = toCutOffError(error, at)
      if (!failed.isPassing || count >= CUTS_MAX) throw failed
      const delayMs = request.limits.firstDelayMs * 2 ** (count - 1)
      await sleep(Math.min(DELAY_MS_MAX, delayMs), undefined, { signal: request.signal })
    }
  }
}

function cutOff(at: number): SourceError {
  const message = `The server ended the connection after ${at} bytes, before the file was whole.`
  return new SourceError("incomplete", message, { isPassing: true })
}

/**
 * Converts the error of a failed download to a SourceError. If the connection broke after some
 * bytes, the error says that the body was cut off.
 */
function toCutOffError(error: unknown, at: number): SourceError {
  const failed = toSourceError(error)
  return failed.code === "connection_failed" && at > 0 ? cutOff(at) : failed
}

/**
 * Monitor of the rate at which response bodies arrive. Only the time during which the reader waits
 * for bytes counts.
 */
type BodyWatch = {
  /**
   * Yields the chunks of a response body. Throws a SourceError if the body stalls or is too slow.
   */
  chunksOf(response: IncomingMessage): AsyncGenerator<Uint8Array>
}

const CHECK_MS_MAX = 1000

/**
 * Creates a monitor of the rate at which one source arrives. The body of the source may arrive in
 * several responses.
 */
function openBodyWatch(limits: SourceLimits): BodyWatch {
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
        Math.min(CHECK_MS_MAX, stallMs / 4),
      )
      try {
        const chunks: AsyncIterator<unknown> = response[Symbol.asyncIterator]()
        for (;;) {
          const askedMs = performance.now()
          waitsSinceMs = askedMs
          const next = await chunks.next()
          waitsSinceMs = null
          if (next.done === true) return
          if (!(next.value instanceof Uint8Array))
            throw new TypeError("The body does not consist of bytes.")
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
