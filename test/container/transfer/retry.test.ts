import { expect, test } from "vitest"
import {
  retryWithBackoff,
  transferRetryPolicy,
} from "../../../container/transfer/concurrency-and-retry.ts"

const never = new AbortController().signal

test("doubles the delay each time, up to its maximum", async () => {
  const times: number[] = []
  const policy = { attempts: 5, firstDelayMs: 20, delayMsMax: 50, signal: never }
  const retrying = retryWithBackoff(policy, () => {
    times.push(performance.now())
    return Promise.reject(new Error("busy"))
  })
  await expect(retrying).rejects.toThrow("busy")
  const delays = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  expect(delays.map((delay, index) => delay >= ([20, 40, 50, 50][index] ?? 0) - 2)).toEqual([
    true,
    true,
    true,
    true,
  ])
})

test("retries transfers for longer than a deployment of the Worker takes", () => {
  const { attempts, firstDelayMs, delayMsMax } = transferRetryPolicy(never)
  const delays = Array.from({ length: attempts - 1 }, (_, index) =>
    Math.min(delayMsMax, firstDelayMs * 2 ** index),
  )
  expect(delays.reduce((sum, delay) => sum + delay, 0)).toBeGreaterThan(60_000)
})
