import { expect, it } from "vitest"
import { computeCost } from "../../scripts/bench/cost/compute-cost.ts"
import { computeLimitRows } from "../../scripts/bench/scale/scale.ts"

const counts = {
  "worker.caller_requests": 2,
  "worker.runner_requests": 3,
  "worker.queue_batches": 1,
  "queue.WEBHOOKS": 1,
  "queue.received": 1,
  "d1.trips": 10,
  "d1.statements": 20,
  "d1.ms": 4,
  "d1.bytes": 4000,
  "d1.rows_read": 1000,
  "d1.rows_written": 50,
  "object.Pool.requests": 2,
  "object.Pool.alarms": 1,
  "object.Dispatcher.requests": 3,
  "object.Dispatcher.rows_written": 30,
  "object.Dispatcher.ms": 500,
  "r2.class_a": 1,
  "r2.class_b": 2,
}

it("computes the cost of a thousand jobs from the operations of a few", () => {
  const taken = { jobs: 2, counts, workerMs: 20, tasks: 2, runnerSeconds: 10, vcpuSeconds: 4 }
  const cost = computeCost({ ...taken, pool: "light" })
  // A basic container: 1 GiB and 4 GB, and an object beside it.
  const second = 0.0000025 + 4 * 0.00000007 + 0.128 * 0.0000125
  expect(cost.worker).toBeCloseTo(500 * (6 * 0.3e-6 + 20 * 0.02e-6), 9)
  expect(cost.d1).toBeCloseTo(500 * (1000 * 0.001e-6 + 50e-6), 9)
  expect(cost.objects).toBeCloseTo(500 * (10 * 0.15e-6 + 0.5 * 0.128 * 12.5e-6 + 30e-6), 9)
  expect(cost.r2).toBeCloseTo(500 * (4.5e-6 + 2 * 0.36e-6), 9)
  expect(cost.queues).toBeCloseTo(500 * 3 * 0.4e-6, 9)
  expect(cost.container).toBeCloseTo(500 * (10 * second + 4 * 0.00002), 9)
  const { worker, d1, objects, r2, queues, container } = cost
  expect(cost.all).toBeCloseTo(worker + d1 + objects + r2 + queues + container, 9)
  // 4 s of a processor are 16 s of a quarter of one.
  expect(cost.containerLeast).toBeCloseTo(500 * (16 * second + 4 * 0.00002), 9)
  expect(cost.idle).toBeCloseTo(1000 * 10 * second, 9)
})

it("computes the rate of jobs at each limit of the platform", () => {
  const rows = computeLimitRows(counts, 2).map(([, takes, at]) => `${takes}: ${at}`)
  expect(rows.slice(1)).toEqual([
    "10.0 statements: 6,000 jobs a minute",
    "2.0 ms: 30,000 jobs a minute",
    "2000 bytes: 5,000,000 jobs kept; 0.3 days of 10,000 a minute",
    "0.50 messages: 600,000 jobs a minute",
    "1.5 requests: 40,000 jobs a minute of one pool",
    "1.5 requests: 40,000 jobs a minute of one account",
    "0.0 requests: never of one key",
    "10 s of 4 vCPU: 2,300 jobs a minute",
  ])
})
