import { POOLS } from "../../../src/bindings/pools.ts"
import type { PoolName } from "../../../src/bindings/pools.ts"
import { sumOperationCounts } from "../counted/counts.ts"
import type { OperationCounts } from "../counted/counts.ts"
import type { INSTANCE_TYPES } from "../../../src/bindings/instance-types.ts"

/** Resources that jobs of one kind used together. `jobs` is the number of jobs. */
export type JobResourceUse = {
  jobs: number
  counts: OperationCounts
  /** CPU time of workerd, in milliseconds. Includes the emulation of D1, R2 and queues. */
  workerMs: number
  pool: PoolName
  tasks: number
  runnerSeconds: number
  vcpuSeconds: number
}

/** Cost of a thousand jobs, in US dollars. */
export type JobCost = {
  worker: number
  d1: number
  objects: number
  r2: number
  queues: number
  container: number
  all: number
  /** Cost of the container if its tools used all its vCPUs all the time. */
  containerLeast: number
  /** Cost of the idle time of containers if each job starts its own container. */
  idle: number
}

/** Computes the cost of a thousand jobs at the prices that apply above the included monthly use. */
export function computeCost({ jobs, counts, workerMs, pool, ...run }: JobResourceUse): JobCost {
  const { vcpu, gib, gb } = SIZES[POOLS[pool].instanceType]
  const { container: price } = PRICES
  const secondPrice =
    gib * price.gibSecond + gb * price.gbSecond + OBJECT_GB * PRICES.object.gbSecond
  const { requests, gbSeconds, rowsRead, rowsWritten } = sumDurableObjectUse(counts)
  const parts = {
    worker: countWorkerInvocations(counts) * PRICES.worker.request + workerMs * PRICES.worker.cpuMs,
    d1:
      of(counts, "d1.rows_read") * PRICES.d1.rowRead +
      of(counts, "d1.rows_written") * PRICES.d1.rowWritten,
    objects:
      (requests + run.tasks * CONTAINER_CALLS_A_TASK) * PRICES.object.request +
      gbSeconds * PRICES.object.gbSecond +
      rowsRead * PRICES.object.rowRead +
      rowsWritten * PRICES.object.rowWritten,
    r2: of(counts, "r2.class_a") * PRICES.r2.classA + of(counts, "r2.class_b") * PRICES.r2.classB,
    queues: countQueueMessages(counts) * OPERATIONS_A_MESSAGE * PRICES.queue.operation,
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

/** Sums the billed use of all Durable Objects other than those of containers. */
export function sumDurableObjectUse(counts: OperationCounts) {
  return {
    requests: sumOperationCounts(counts, /^object\.\w+\.(?:requests|alarms)$/),
    gbSeconds: (sumOperationCounts(counts, /^object\.\w+\.ms$/) / 1000) * OBJECT_GB,
    rowsRead: sumOperationCounts(counts, /^object\.\w+\.rows_read$/),
    rowsWritten: sumOperationCounts(counts, /^object\.\w+\.rows_written$/),
  }
}

/** Returns the number of invocations of the Worker by callers, runners, queues and the cron. */
export function countWorkerInvocations(counts: OperationCounts): number {
  return sumOperationCounts(counts, /^worker\./)
}

export function countQueueMessages(counts: OperationCounts): number {
  return sumOperationCounts(counts, /^queue\.(?:JOBS|WEBHOOKS)$/)
}

function of(counts: OperationCounts, name: string): number {
  return counts[name] ?? 0
}

// Prices of the Workers Paid plan in US dollars, above the included monthly use. They were read on
// 2026-11-23 in stored copies of the pages that the comments name, and not compared with a bill.

const MILLION = 1_000_000

const PRICES = {
  /** https://developers.cloudflare.com/workers/platform/pricing/ */
  worker: { request: 0.3 / MILLION, cpuMs: 0.02 / MILLION },
  /** https://developers.cloudflare.com/d1/platform/pricing/ */
  d1: { rowRead: 0.001 / MILLION, rowWritten: 1 / MILLION },
  /** https://developers.cloudflare.com/durable-objects/platform/pricing/ */
  object: {
    request: 0.15 / MILLION,
    gbSecond: 12.5 / MILLION,
    rowRead: 0.001 / MILLION,
    rowWritten: 1 / MILLION,
  },
  /** https://developers.cloudflare.com/r2/pricing/ */
  r2: { classA: 4.5 / MILLION, classB: 0.36 / MILLION },
  /** https://developers.cloudflare.com/queues/platform/pricing/ */
  queue: { operation: 0.4 / MILLION },
  /** https://developers.cloudflare.com/containers/pricing/ */
  container: { gibSecond: 0.0000025, gbSecond: 0.00000007, vcpuSecond: 0.00002 },
}

/** Memory that Cloudflare bills for each Durable Object. */
const OBJECT_GB = 0.128
/** Billed operations per queue message: a write, a read and a deletion. */
const OPERATIONS_A_MESSAGE = 3
/**
 * Calls to a container's Durable Object per task: one that posts the task, and one that reports the
 * end of its run.
 */
const CONTAINER_CALLS_A_TASK = 2
/** Time after which an idle container is stopped, in seconds. */
const IDLE_SECONDS = 10

type Size = { vcpu: number; gib: number; gb: number }

/**
 * vCPUs, memory and disk of each instance type. Memory and disk are billed while a container runs,
 * even if unused.
 */
const SIZES: Record<(typeof INSTANCE_TYPES)[number], Size> = {
  lite: { vcpu: 1 / 16, gib: 0.25, gb: 2 },
  basic: { vcpu: 1 / 4, gib: 1, gb: 4 },
  "standard-1": { vcpu: 1 / 2, gib: 4, gb: 8 },
  "standard-2": { vcpu: 1, gib: 6, gb: 12 },
  "standard-3": { vcpu: 2, gib: 8, gb: 16 },
  "standard-4": { vcpu: 4, gib: 12, gb: 20 },
}
