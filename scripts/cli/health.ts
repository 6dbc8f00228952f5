import { request } from "node:http"
import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import pWaitFor from "p-wait-for"
import { makeRunnerHeaders } from "../../src/contract/protocol.ts"
import { CliError } from "./cli-error.ts"

const POLL_MS = 50
const ANSWER_MS_MAX = 2000

/**
 * URL at which the Worker or the runner reports its health, and the token for the runner's route.
 */
export type HealthEndpoint = { url: string; token?: string }

/**
 * Waits until the Worker or the runner responds with a success. Throws a CliError after
 * `timeoutMs`.
 */
export async function waitUntilServiceHealthy(
  endpoint: HealthEndpoint,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const message = `${endpoint.url} did not return success within ${timeoutMs / 1000} seconds.`
  await pWaitFor(async () => await isServiceHealthy(endpoint), {
    interval: POLL_MS,
    timeout: { milliseconds: timeoutMs, message: new CliError(message) },
    signal,
  })
}

export async function isServiceHealthy(endpoint: HealthEndpoint): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    return (await requestServiceHealth(endpoint, signal)).isOk
  } catch {
    return false
  }
}

/**
 * Requests a health route. Returns the body, and whether the status is a success. Uses node:http,
 * because `fetch` would double the memory of the start script.
 */
export async function requestServiceHealth(
  { url, token }: HealthEndpoint,
  signal: AbortSignal,
): Promise<{ isOk: boolean; body: string }> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(url, { agent: false, headers: makeRunnerHeaders(token), signal })
    outgoing.once("response", resolve).on("error", reject).end()
  })
  const { statusCode = 0 } = answer
  return { isOk: statusCode >= 200 && statusCode < 300, body: await text(answer) }
}
