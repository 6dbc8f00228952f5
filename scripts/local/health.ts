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

export async function isHealthy({ url, token }: HealthEndpoint): Promise<boolean> {
  try {
    const response = await fetch(url, {
      headers: runnerHeaders(token),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}
