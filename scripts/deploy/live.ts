import pWaitFor from "p-wait-for"
import { z } from "zod"
import { CliError } from "../local/cli-error.ts"

const LIVE_MS_MAX = 300_000
const POLL_MS = 2000
const ANSWER_MS_MAX = 10_000

const healthy = z.object({ status: z.literal("ok") })

/** Waits until the service is healthy; a new host name takes minutes to resolve everywhere. */
export async function untilLive(origin: string): Promise<void> {
  const url = `${origin}/v1/health`
  let lastProblem = "nothing"
  const isLive = await pWaitFor<boolean>(
    async () => {
      const problem = await findHealthProblem(url)
      lastProblem = problem ?? lastProblem
      return problem === null && pWaitFor.resolveWith(true)
    },
    { interval: POLL_MS, timeout: { milliseconds: LIVE_MS_MAX, fallback: () => false } },
  )
  if (isLive) return
  throw new CliError(
    `${url} did not answer with "ok" within ${LIVE_MS_MAX / 1000} seconds; at last it said: ${lastProblem}`,
  )
}

/** Whether the operator's routes accept a token. */
export async function opensOperatorRoutes(origin: string, token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` }
  const signal = AbortSignal.timeout(ANSWER_MS_MAX)
  const response = await fetch(`${origin}/operator/keys`, { headers, signal })
  await response.body?.cancel()
  return response.ok
}

/** Null where the service is healthy, else what it answered instead. */
async function findHealthProblem(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
    const text = await response.text()
    if (!response.ok) return `status ${response.status}`
    return healthy.safeParse(JSON.parse(text)).success ? null : "something else"
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
