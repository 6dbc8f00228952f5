import { request as requestHttp } from "node:http"
import type { IncomingMessage } from "node:http"
import { request as requestHttps } from "node:https"

export type Opening = {
  headers: Record<string, string>
  /** Ends the request, or its answer while that is read. */
  signal: AbortSignal
  /** How long the head of the answer may take. */
  headMsMax: number
}

/**
 * GETs a URL and answers once the head of the response is there; its body is read as it comes and as
 * it was coded, where `fetch` decodes it. The server listens on the socket where one is given.
 */
export async function openAnswer(
  url: string,
  { headers, signal, headMsMax }: Opening,
  socketPath: string | null,
): Promise<IncomingMessage> {
  signal.throwIfAborted()
  const late = AbortSignal.timeout(headMsMax)
  const open = url.startsWith("https:") ? requestHttps : requestHttp
  const outgoing = open(url, {
    headers,
    signal,
    // A connection that is kept may be gone when it is used again.
    agent: false,
    ...(socketPath !== null && { socketPath }),
  })
  function stop() {
    const error = new Error("No answer came in time.", { cause: late.reason })
    outgoing.destroy(Object.assign(error, { code: "ETIMEDOUT" }))
  }
  late.addEventListener("abort", stop)
  try {
    return await new Promise((resolve, reject) => {
      outgoing.once("response", resolve).on("error", reject).end()
    })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    late.removeEventListener("abort", stop)
  }
}
