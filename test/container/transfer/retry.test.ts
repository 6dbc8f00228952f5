import { expect, test } from "vitest"
import { RunnerError } from "../../../container/failures.ts"
import { retry, transferRetryPolicy } from "../../../container/transfer/promises.ts"

const never = new AbortController().signal
const quick = { attempts: 3, firstDelayMs: 1, delayMsMax: 2, signal: never }

/** Work that fails this many times before it succeeds. */
function failing(times: number, error: Error) {
  const work = {
    calls: 0,
    do(): Promise<string> {
      work.calls += 1
      return work.calls > times ? Promise.resolve("done") : Promise.reject(error)
    },
  }
  return work
}

test("repeats work until it succeeds", async () => {
  const work = failing(2, new Error("busy"))
  expect(await retry(quick, () => work.do())).toBe("done")
  expect(work.calls).toBe(3)
})

test("throws the last error where the attempts are used up", async () => {
  const error = new Error("busy")
  const work = failing(3, error)
  await expect(retry(quick, () => work.do())).rejects.toBe(error)
  expect(work.calls).toBe(3)
})

test("repeats what fetch failed at", async () => {
  const work = failing(1, new TypeError("fetch failed"))
  expect(await retry(quick, () => work.do())).toBe("done")
})

test("throws a RunnerError at once", async () => {
  const error = new RunnerError("internal", "no use")
  const work = failing(1, error)
  await expect(retry(quick, () => work.do())).rejects.toBe(error)
  expect(work.calls).toBe(1)
})

test("waits twice as long each time, and no longer than it may", async () => {
  const times: number[] = []
  const policy = { attempts: 5, firstDelayMs: 20, delayMsMax: 50, signal: never }
  const retrying = retry(policy, () => {
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

test("throws the reason of an abort, also between two attempts", async () => {
  const abort = new AbortController()
  const policy = { attempts: 3, firstDelayMs: 10_000, delayMsMax: 10_000, signal: abort.signal }
  const retrying = retry(policy, () => Promise.reject(new Error("busy")))
  setTimeout(() => abort.abort("gone"), 10)
  await expect(retrying).rejects.toBe("gone")
  await expect(retry(policy, () => Promise.resolve("done"))).rejects.toBe("gone")
})

test("transfers are retried for longer than a deployment of the Worker takes", () => {
  const { attempts, firstDelayMs, delayMsMax } = transferRetryPolicy(never)
  const delays = Array.from({ length: attempts - 1 }, (_, index) =>
    Math.min(delayMsMax, firstDelayMs * 2 ** index),
  )
  expect(delays.reduce((sum, delay) => sum + delay, 0)).toBeGreaterThan(60_000)
})
