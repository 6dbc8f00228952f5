import pMap, { pMapSkip } from "p-map"
import pRetry from "p-retry"
import { RunnerError } from "../failures.ts"

export type RetryPolicy = {
  attempts: number
  firstDelayMs: number
  delayMsMax: number
  signal: AbortSignal
}

/**
 * Maps items with at most `limit` of them in progress. The first failure aborts the signal that the
 * other calls got, keeps further ones from starting, and is thrown once all have ended; so is the
 * reason of `signal` where that aborts.
 */
export async function mapWithConcurrency<Item, Value>(
  items: readonly Item[],
  { limit, signal }: { limit: number; signal: AbortSignal },
  work: (item: Item, signal: AbortSignal) => Promise<Value>,
): Promise<Value[]> {
  const failure = new AbortController()
  const joint = AbortSignal.any([signal, failure.signal])
  // A rejected mapper, or an abort that p-map knows of, would settle it before the others end.
  const values = await pMap(
    items,
    async (item) => {
      if (joint.aborted) return pMapSkip
      try {
        return await work(item, joint)
      } catch (error) {
        failure.abort(error)
        return pMapSkip
      }
    },
    { concurrency: limit },
  )
  joint.throwIfAborted()
  return values
}

/** How transfers are retried: for 76 seconds, which outlasts the minute that a Worker's deployment takes. */
export function transferRetryPolicy(signal: AbortSignal): RetryPolicy {
  return { attempts: 20, firstDelayMs: 200, delayMsMax: 5000, signal }
}

/**
 * Repeats work until it succeeds, the attempts are used up or the signal aborts, whose reason is
 * thrown then. The delay doubles each time. A RunnerError is final and is thrown at once.
 */
export async function retry<Value>(
  policy: RetryPolicy,
  work: () => Promise<Value>,
): Promise<Value> {
  return await pRetry(work, {
    retries: policy.attempts - 1,
    factor: 2,
    minTimeout: policy.firstDelayMs,
    maxTimeout: policy.delayMsMax,
    signal: policy.signal,
    shouldRetry: ({ error }) => !(error instanceof RunnerError),
  })
}
