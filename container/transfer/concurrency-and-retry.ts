import pMap, { pMapSkip } from "p-map"
import pRetry from "p-retry"
import { RunnerError } from "../task-failure.ts"

export type RetryPolicy = {
  attempts: number
  firstDelayMs: number
  delayMsMax: number
  signal: AbortSignal
}

/**
 * Calls `work` for each item, with at most `limit` calls in progress. The first error aborts the
 * signal of the other calls and prevents further calls. The error is thrown when all calls have
 * ended. If `signal` aborts, the abort reason is thrown in the same way.
 */
export async function mapWithConcurrency<Item, Value>(
  items: readonly Item[],
  { limit, signal }: { limit: number; signal: AbortSignal },
  work: (item: Item, signal: AbortSignal) => Promise<Value>,
): Promise<Value[]> {
  const failure = new AbortController()
  const joint = AbortSignal.any([signal, failure.signal])
  // Handles errors and aborts in this function, since p-map would settle before the other calls
  // have ended.
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

/**
 * Returns the retry policy for transfers between the runner and the Worker. The attempts take 76
 * seconds in total, longer than a deployment of the Worker, which takes up to a minute.
 */
export function transferRetryPolicy(signal: AbortSignal): RetryPolicy {
  return { attempts: 20, firstDelayMs: 200, delayMsMax: 5000, signal }
}

/**
 * Repeats `work` with exponential backoff until a call succeeds or the attempts are exhausted.
 * Throws the last error, or the abort reason of the signal. A RunnerError is final and thrown at
 * once.
 */
export async function retryWithBackoff<Value>(
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
