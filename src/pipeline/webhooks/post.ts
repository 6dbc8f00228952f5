import { OUTBOUND_ERROR_HEADER } from "../../contract/protocol.ts"
import type { Attempt } from "./retry-schedule.ts"

const LIMIT_MS = 15_000
const READ_BYTES_MAX = 64 * 1024
const KEPT_BYTES = 1024
const ERROR_LENGTH_MAX = 500

type Said = Omit<Attempt, "startedAt" | "durationMs">

/** POSTs a webhook once, within 15 s from the connection to the end of the answer. */
export async function postWebhook(
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<Attempt> {
  const startedAt = Date.now()
  const signal = AbortSignal.timeout(LIMIT_MS)
  const init = { method: "POST", headers, body, signal, redirect: "manual" as const }
  const said = await post(new Request(url, init), signal)
  return { ...said, startedAt, durationMs: Date.now() - startedAt }
}

/** A try that could not even begin: by what its receiver is, else by a fault of the service. */
export function refusedAttempt(error: string, isOfReceiver: boolean): Attempt {
  return { ...noAnswer(error), isOfReceiver, startedAt: Date.now(), durationMs: 0 }
}

async function post(request: Request, signal: AbortSignal): Promise<Said> {
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

/** The first characters of an answer, of which no more than the limit is read. */
async function readHead(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): Promise<string> {
  const reader = body?.getReader()
  if (!reader) return ""
  signal.addEventListener("abort", () => void reader.cancel().catch(() => undefined))
  const decoder = new TextDecoder()
  let kept = ""
  let bytes = 0
  try {
    while (bytes < READ_BYTES_MAX) {
      const { done, value } = await reader.read()
      if (done) break
      const room = Math.max(0, KEPT_BYTES - bytes)
      kept += decoder.decode(value.subarray(0, room), { stream: true })
      bytes += value.byteLength
    }
  } catch {
    // An answer that breaks off counts by its status, one that is too slow by the signal.
  }
  await reader.cancel().catch(() => undefined)
  return kept
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return `redirects are not followed, and it answered ${status}`
  return `it answered ${status}`
}

function noAnswer(error: string): Said {
  const said = error.slice(0, ERROR_LENGTH_MAX)
  return { status: null, error: said, answer: null, retryAfter: null, isOfReceiver: true }
}

function tooSlow(): string {
  return `it did not answer in full within ${LIMIT_MS / 1000} seconds`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
