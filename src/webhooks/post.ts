import { OUTBOUND_ERROR_HEADER } from "../contract/protocol.ts"
import type { DeliveryTryResult } from "./retry-schedule.ts"

/** Timeout of a try, from the connection to the end of the response, in milliseconds. */
export const DELIVERY_TRY_MS_MAX = 15_000
const READ_BYTES_MAX = 64 * 1024
const KEPT_BYTES = 1024
const ERROR_LENGTH_MAX = 500

type PostResult = Omit<DeliveryTryResult, "startedAt" | "durationMs">

/** Sends a webhook by one POST, within 15 s from the connection to the end of the response. */
export async function postWebhook(
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<DeliveryTryResult> {
  const startedAt = Date.now()
  const signal = AbortSignal.timeout(DELIVERY_TRY_MS_MAX)
  const init = { method: "POST", headers, body, signal, redirect: "manual" as const }
  const result = await post(new Request(url, init), signal)
  return { ...result, startedAt, durationMs: Date.now() - startedAt }
}

/**
 * Returns the result of a try that sent no request. `isOfReceiver` is true if the receiver is the
 * cause, and false if the service is.
 */
export function makeUnsentTryResult(error: string, isOfReceiver: boolean): DeliveryTryResult {
  return { ...noAnswer(error), isOfReceiver, startedAt: Date.now(), durationMs: 0 }
}

async function post(request: Request, signal: AbortSignal): Promise<PostResult> {
  try {
    const response = await fetch(request)
    const outboundError = response.headers.get(OUTBOUND_ERROR_HEADER)
    const answer = await readHead(response.body, signal)
    if (outboundError !== null) return noAnswer(outboundError)
    const { status } = response
    const error = signal.aborted ? tooSlow() : errorOf(status)
    const retryAfter = response.headers.get("retry-after")
    return { status, error, answer, retryAfter, isOfReceiver: true }
  } catch (error) {
    return noAnswer(signal.aborted ? tooSlow() : `the connection failed: ${messageOf(error)}`)
  }
}

/** Returns the first KEPT_BYTES of a response body. Reads at most READ_BYTES_MAX of the body. */
async function readHead(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): Promise<string> {
  const reader = body?.getReader()
  if (!reader) return ""
  signal.addEventListener("abort", () => void reader.cancel().catch(() => undefined))
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  try {
    while (bytes < READ_BYTES_MAX) {
      const { done, value } = await reader.read()
      if (done) break
      const room = Math.max(0, KEPT_BYTES - bytes)
      text += decoder.decode(value.subarray(0, room), { stream: true })
      bytes += value.byteLength
    }
  } catch {
    // Keeps the text that was read so far. The response's status counts even if the body is
    // truncated, and `signal` shows whether the response was too slow.
  }
  await reader.cancel().catch(() => undefined)
  return text
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400)
    return `the receiver answered ${status}, and webhooks follow no redirects`
  return `the receiver answered ${status}`
}

function noAnswer(error: string): PostResult {
  const shortError = error.slice(0, ERROR_LENGTH_MAX)
  return { status: null, error: shortError, answer: null, retryAfter: null, isOfReceiver: true }
}

function tooSlow(): string {
  return `the receiver did not answer in full within ${DELIVERY_TRY_MS_MAX / 1000} seconds`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
