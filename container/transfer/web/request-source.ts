import type { IncomingMessage } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { DOWNLOAD_RATE_LIMITS } from "../../egress/download-rate-limits.ts"
import type { DownloadRateLimits } from "../../egress/download-rate-limits.ts"
import { SourceChangedError, SourceError, toSourceError } from "./source-error.ts"
import {
  getIfRangeValue,
  isPartOfSameSourceVersion,
  isSameSourceVersion,
  readSourceProperties,
  readSourceLengthFrom416,
} from "./source-properties.ts"
import type { SourceProperties } from "./source-properties.ts"

/** Limits for the responses of a source's server: times to respond, and the minimum rate. */
export type SourceLimits = DownloadRateLimits & {
  /** Maximum time for all attempts to get a response, in milliseconds. */
  startMs: number
  /** Maximum time from a request to the headers of its response, in milliseconds. */
  answerMs: number
  /**
   * Delay before the second attempt to get a response, in milliseconds. The delay doubles for each
   * further attempt.
   */
  firstDelayMs: number
}

export const SOURCE_LIMITS: SourceLimits = {
  ...DOWNLOAD_RATE_LIMITS,
  startMs: 60_000,
  answerMs: 30_000,
  firstDelayMs: 500,
}

/**
 * Function that sends a request for a source with the given headers. Throws a SourceError or a
 * SourceChangedError for a response without bytes of the source, except for status 416 after a
 * range request.
 */
export type SourceRequester = (request: {
  url: URL
  headers: Record<string, string>
  signal: AbortSignal
  /** Timeout for the arrival of the response headers, in milliseconds. */
  headMsMax: number
}) => Promise<Omit<SourceResponse, "facts">>

/** URL of a source, and the function that sends requests for the source. */
export type SourceRequest = {
  url: URL
  send: SourceRequester
  signal: AbortSignal
  limits: SourceLimits
}

/**
 * Response whose body is not read yet, the final URL after redirects, and the properties of the
 * source.
 */
export type SourceResponse = { url: URL; response: IncomingMessage; facts: SourceProperties }

const TRIES_MAX = 5

/**
 * Requests a source from its first byte on. Throws a SourceError with the reason if the source
 * cannot be downloaded.
 */
export async function requestSource(request: SourceRequest): Promise<SourceResponse> {
  return await retryRequest(request, async (headMsMax) => {
    const answer = await sendRequest(request, headMsMax)
    const facts = readSourceProperties(answer.response)
    if (facts?.offset === 0 && answer.response.statusCode !== 206) return { ...answer, facts }
    const sentBytes = Number(answer.response.headers["content-length"])
    if (facts?.offset === 0 && facts.length === sentBytes) return { ...answer, facts }
    answer.response.destroy()
    throw new SourceError("incomplete", "The server sent only a part of the file.")
  })
}

/**
 * Requests a source from a byte position on. Returns "at its end" if no bytes are left. A server
 * that does not support ranges may send the whole source again. Throws a SourceChangedError if the
 * version of the source has changed.
 */
export async function requestRestOfSource(
  request: SourceRequest,
  first: SourceProperties,
  position: number,
): Promise<SourceResponse | "at its end"> {
  const ifRange = getIfRangeValue(first)
  if (ifRange === null)
    throw new SourceChangedError("The source has no validator to compare versions by.")
  return await retryRequest(request, async (headMsMax) => {
    const headers = { range: `bytes=${position}-`, "if-range": ifRange }
    const answer = await sendRequest(request, headMsMax, headers)
    if (answer.response.statusCode === 416) {
      answer.response.destroy()
      // Treats status 416 as the end of the source if the length in the response equals the
      // position, since no bytes are left.
      if (readSourceLengthFrom416(answer.response) === position) return "at its end"
      throw new SourceChangedError("The source has become shorter.")
    }
    const facts = readSourceProperties(answer.response)
    const isPart = answer.response.statusCode === 206
    const isRest = isPart
      ? facts?.offset === position && isPartOfSameSourceVersion(first, facts)
      : facts && isSameSourceVersion(first, facts)
    if (facts && isRest) return { ...answer, facts }
    answer.response.destroy()
    throw new SourceChangedError("The source has changed.")
  })
}

async function sendRequest(
  { url, send: ask, signal }: SourceRequest,
  headMsMax: number,
  headers: Record<string, string> = {},
): Promise<Omit<SourceResponse, "facts">> {
  return await ask({ url, headers, signal, headMsMax })
}

/** Repeats a request while its failure may be temporary, within the time limit for all attempts. */
async function retryRequest<Value>(
  { limits, signal }: SourceRequest,
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
