import { POOLS } from "../../../src/runner/pools.ts"
import type { PoolName } from "../../../src/runner/pools.ts"
import { sumOf } from "../counted/counts.ts"
import type { Counts } from "../counted/counts.ts"
import {
  CONTAINER_CALLS_A_TASK,
  IDLE_SECONDS,
  OBJECT_GB,
  OPERATIONS_A_MESSAGE,
  PRICES,
  SIZES,
} from "./prices.ts"

/** What some jobs of a kind took: operations, and of runners, the tasks, their time and processors. */
export type Taken = {
  jobs: number
  counts: Counts
  /** CPU time of workerd, in milliseconds; it emulates D1, R2 and queues, too. */
  workerMs: number
  pool: PoolName
  tasks: number
  runnerSeconds: number
  vcpuSeconds: number
}

/** Dollars of a thousand jobs. */
export type Cost = {
  worker: number
  d1: number
  objects: number
  r2: number
  queues: number
  container: number
  all: number
  /** What `container` would be where the tools kept all of its processors busy. */
  containerLeast: number
  /** What is added where no other job follows, and each job's container waits in vain. */
  idle: number
}

/** What a thousand such jobs cost, above what a month includes. */
export function reckonCost({ jobs, counts, workerMs, pool, ...run }: Taken): Cost {
  const { vcpu, gib, gb } = SIZES[POOLS[pool].instanceType]
  const { container: price } = PRICES
  const secondPrice =
    gib * price.gibSecond + gb * price.gbSecond + OBJECT_GB * PRICES.object.gbSecond
  const { requests, gbSeconds, rowsRead, rowsWritten } = objectsOf(counts)
  const parts = {
    worker: workerRequests(counts) * PRICES.worker.request + workerMs * PRICES.worker.cpuMs,
    d1:
      of(counts, "d1.rows_read") * PRICES.d1.rowRead +
      of(counts, "d1.rows_written") * PRICES.d1.rowWritten,
    objects:
      (requests + run.tasks * CONTAINER_CALLS_A_TASK) * PRICES.object.request +
      gbSeconds * PRICES.object.gbSecond +
      rowsRead * PRICES.object.rowRead +
      rowsWritten * PRICES.object.rowWritten,
    r2: of(counts, "r2.class_a") * PRICES.r2.classA + of(counts, "r2.class_b") * PRICES.r2.classB,
    queues: messages(counts) * OPERATIONS_A_MESSAGE * PRICES.queue.operation,
    container: run.runnerSeconds * secondPrice + run.vcpuSeconds * price.vcpuSecond,
  }
  const busy = (run.vcpuSeconds / vcpu) * secondPrice + run.vcpuSeconds * price.vcpuSecond
  const all = Object.values(parts).reduce((sum, part) => sum + part, 0)
  const thousand = 1000 / jobs
  return {
    worker: parts.worker * thousand,
    d1: parts.d1 * thousand,
    objects: parts.objects * thousand,
    r2: parts.r2 * thousand,
    queues: parts.queues * thousand,
    container: parts.container * thousand,
    all: all * thousand,
    containerLeast: busy * thousand,
    idle: IDLE_SECONDS * secondPrice * 1000,
  }
}

/** Of all objects but those of containers: what they were asked, and for how long they were at it. */
export function objectsOf(counts: Counts) {
  return {
    requests: sumOf(counts, /^object\.\w+\.(?:requests|alarms)$/),
    gbSeconds: (sumOf(counts, /^object\.\w+\.ms$/) / 1000) * OBJECT_GB,
    rowsRead: sumOf(counts, /^object\.\w+\.rows_read$/),
    rowsWritten: sumOf(counts, /^object\.\w+\.rows_written$/),
  }
}

/** Invocations of the Worker: by callers, by runners and with messages. */
export function workerRequests(counts: Counts): number {
  return sumOf(counts, /^worker\./)
}

export function messages(counts: Counts): number {
  return sumOf(counts, /^queue\.(?:JOBS|WEBHOOKS)$/)
}

function of(counts: Counts, name: string): number {
  return counts[name] ?? 0
}
