import type { IncomingMessage } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { RATE_LIMITS } from "../../egress/rate-limits.ts"
import type { RateLimits } from "../../egress/rate-limits.ts"
import { SourceChangedError, SourceError, toSourceError } from "./source-error.ts"
import {
  ifRangeOf,
  isPartOfVersion,
  isSameVersion,
  readFacts,
  readUnsatisfied,
} from "./source-facts.ts"
import type { SourceFacts } from "./source-facts.ts"

/** How long a server may take for what. */
export type WebLimits = RateLimits & {
  /** All tries to get an answer. */
  startMs: number
  /** One answer, from the request to its head. */
  answerMs: number
  /** The wait before the second try; it doubles. */
  firstDelayMs: number
}

export const WEB_LIMITS: WebLimits = {
  ...RATE_LIMITS,
  startMs: 60_000,
  answerMs: 30_000,
  firstDelayMs: 500,
}

/**
 * Asks for a source once, with these headers; throws a SourceError where an answer has none of its
 * bytes, but for a 416 to a range, or a SourceChangedError.
 */
export type Ask = (asked: {
  url: URL
  headers: Record<string, string>
  signal: AbortSignal
  /** How long the head of the answer may take. */
  headMsMax: number
}) => Promise<Omit<WebAnswer, "facts">>

/** What is asked for, and by which way. */
export type WebRequest = {
  url: URL
  ask: Ask
  signal: AbortSignal
  limits: WebLimits
}

/** An answer whose body is there to be read, and the URL that it is of in the end. */
export type WebAnswer = { url: URL; response: IncomingMessage; facts: SourceFacts }

const TRIES_MAX = 5

/** Asks for the whole; throws a SourceError that says why there is none. */
export async function openSource(request: WebRequest): Promise<WebAnswer> {
  return await withTries(request, async (headMsMax) => {
    const answer = await askWithin(request, headMsMax)
    const facts = readFacts(answer.response)
    if (facts?.offset === 0 && answer.response.statusCode !== 206) return { ...answer, facts }
    const sentBytes = Number(answer.response.headers["content-length"])
    if (facts?.offset === 0 && facts.length === sentBytes) return { ...answer, facts }
    answer.response.destroy()
    throw new SourceError("incomplete", "The server sent a part of the file and not the whole.")
  })
}

/**
 * Asks for the rest of a source from a byte on, which may be nothing. A server that knows no ranges
 * may answer with the whole of the same version; throws a SourceChangedError where neither comes.
 */
export async function openRest(
  request: WebRequest,
  first: SourceFacts,
  position: number,
): Promise<WebAnswer | "at its end"> {
  const ifRange = ifRangeOf(first)
  if (ifRange === null) throw new SourceChangedError("The source cannot be told from another.")
  return await withTries(request, async (headMsMax) => {
    const headers = { range: `bytes=${position}-`, "if-range": ifRange }
    const answer = await askWithin(request, headMsMax, headers)
    if (answer.response.statusCode === 416) {
      answer.response.destroy()
      // With the validator that was asked for, the source only ends here.
      if (readUnsatisfied(answer.response) === position) return "at its end"
      throw new SourceChangedError("The source is shorter than before.")
    }
    const facts = readFacts(answer.response)
    const isPart = answer.response.statusCode === 206
    const isRest = isPart
      ? facts?.offset === position && isPartOfVersion(first, facts)
      : facts && isSameVersion(first, facts)
    if (facts && isRest) return { ...answer, facts }
    answer.response.destroy()
    throw new SourceChangedError("The source is another than before.")
  })
}

async function askWithin(
  { url, ask, signal }: WebRequest,
  headMsMax: number,
  headers: Record<string, string> = {},
): Promise<Omit<WebAnswer, "facts">> {
  return await ask({ url, headers, signal, headMsMax })
}

/** Repeats a request while what is against it may pass, within the time for a start. */
async function withTries<Value>(
  { limits, signal }: WebRequest,
  work: (headMsMax: number) => Promise<Value>,
): Promise<Value> {
  const endsMs = performance.now() + limits.startMs
  for (let tries = 1; ; tries += 1) {
    try {
      return await work(Math.ceil(Math.min(limits.answerMs, endsMs - performance.now())))
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof SourceChangedError) throw error
      const failed = toSourceError(error)
      const waitMs = failed.retryAfterMs ?? limits.firstDelayMs * 2 ** (tries - 1)
      const isLate = performance.now() + waitMs >= endsMs
      if (!failed.isPassing || isLate || tries >= TRIES_MAX) throw failed
      await sleep(waitMs, undefined, { signal })
    }
  }
}
