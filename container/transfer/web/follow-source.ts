import { setTimeout as sleep } from "node:timers/promises"
import { openBodyWatch } from "./body-watch.ts"
import { openRest } from "./open-source.ts"
import type { WebAnswer, WebRequest } from "./open-source.ts"
import { SourceChangedError, SourceError, toSourceError } from "./source-error.ts"
import type { SourceFacts } from "./source-facts.ts"

/** A source is asked again after so many cuts in a row at most between which too little came. */
const CUTS_MAX = 6
const PROGRESS_BYTES_MIN = 1024 * 1024
const DELAY_MS_MAX = 10_000

export type Beginning = {
  /** An answer that was not read yet; null: the first one is still to be asked for. */
  answer: WebAnswer | null
  position: number
  onPosition: (position: number) => void
}

/**
 * The bytes of a source from a position on, as they are sent. Where the connection is cut, the rest
 * is asked for. Throws a SourceError where the bytes do not come, and a SourceChangedError where
 * those that come are of another version.
 */
export async function* followSource(
  request: WebRequest,
  first: SourceFacts,
  { answer, position, onPosition }: Beginning,
): AsyncGenerator<Uint8Array> {
  const watch = openBodyWatch(request.limits)
  let at = position
  let cuts = { count: 0, at }
  for (let next = answer; ; next = null) {
    try {
      const opened = next ?? (await openRest(request, first, at))
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
      const failed = toCut(error, at)
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

/** A connection that broke while bytes came is a file that is incomplete. */
function toCut(error: unknown, at: number): SourceError {
  const failed = toSourceError(error)
  return failed.code === "connection_failed" && at > 0 ? cutOff(at) : failed
}
