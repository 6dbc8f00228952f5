import { request } from "node:http"
import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import pWaitFor from "p-wait-for"
import { runnerHeaders } from "../../src/contract/protocol.ts"
import { CliError } from "./cli-error.ts"

const POLL_MS = 50
const ANSWER_MS_MAX = 2000

/** Where the Worker or the runner reports its health, and the token that the runner requires. */
export type HealthEndpoint = { url: string; token?: string }

/** Waits until Worker or runner answers with success; throws a CliError after `timeoutMs`. */
export async function untilHealthy(
  endpoint: HealthEndpoint,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const message = `${endpoint.url} did not answer with success within ${timeoutMs / 1000} seconds.`
  await pWaitFor(async () => await isHealthy(endpoint), {
    interval: POLL_MS,
    timeout: { milliseconds: timeoutMs, message: new CliError(message) },
    signal,
  })
}

export async function isHealthy(endpoint: HealthEndpoint): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    return (await askHealth(endpoint, signal)).isOk
  } catch {
    return false
  }
}

/**
 * What one answers, and whether that is a success. By a request of its own connection: `fetch` would
 * load as much again as the rest of the start script.
 */
export async function askHealth(
  { url, token }: HealthEndpoint,
  signal: AbortSignal,
): Promise<{ isOk: boolean; body: string }> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(url, { agent: false, headers: runnerHeaders(token), signal })
    outgoing.once("response", resolve).on("error", reject).end()
  })
  const { statusCode = 0 } = answer
  return { isOk: statusCode >= 200 && statusCode < 300, body: await text(answer) }
}
