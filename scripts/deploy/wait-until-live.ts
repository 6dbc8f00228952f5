import pWaitFor from "p-wait-for"
import { z } from "zod"
import { CliError } from "../cli/cli-error.ts"

const LIVE_MS_MAX = 300_000
const POLL_MS = 2000
const ANSWER_MS_MAX = 10_000

const health = z.object({
  status: z.enum(["ok", "degraded"]),
  reasons: z.array(z.string()).default([]),
})

/**
 * Waits until the service responds to GET /v1/health. Returns the status and the reasons of the
 * health. A new host name may take minutes to resolve.
 */
export async function waitUntilLive(origin: string): Promise<string> {
  const url = `${origin}/v1/health`
  let lastProblem = "nothing"
  const words = await pWaitFor<string | null>(
    async () => {
      const answer = await readHealth(url)
      if ("words" in answer) return pWaitFor.resolveWith(answer.words)
      lastProblem = answer.problem
      return false
    },
    { interval: POLL_MS, timeout: { milliseconds: LIVE_MS_MAX, fallback: () => null } },
  )
  if (words !== null) return words
  throw new CliError(
    `${url} did not return "ok" within ${LIVE_MS_MAX / 1000} seconds; the last problem: ${lastProblem}`,
  )
}

/** Reports whether the operator's routes accept an operator token. */
export async function isOperatorTokenAccepted(origin: string, token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` }
  const signal = AbortSignal.timeout(ANSWER_MS_MAX)
  const response = await fetch(`${origin}/operator/keys?limit=1`, { headers, signal })
  await response.body?.cancel()
  return response.ok
}

/**
 * Requests the health of a service. Returns the status and the reasons for a degraded state as
 * `words`, or an error sentence as `problem`.
 */
async function readHealth(url: string): Promise<{ words: string } | { problem: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
    const text = await response.text()
    if (!response.ok) return { problem: `status ${response.status}` }
    const { data } = health.safeParse(JSON.parse(text))
    if (!data) return { problem: "something else" }
    return { words: [data.status, ...data.reasons].join(" ") }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}
