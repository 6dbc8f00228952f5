import type { INSTANCE_TYPES } from "../../../src/runner/instance-types.ts"

// Prices of the Workers Paid plan in US dollars, above what a month includes. Read on 2026-11-23 in
// stored copies of the pages that `source` names, and not on a bill: look at your own.

const MILLION = 1_000_000

export const PRICES = {
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

/** What an object is billed as having, whatever it has. */
export const OBJECT_GB = 0.128
/** A message is written, read and deleted. */
export const OPERATIONS_A_MESSAGE = 3
/** A container's object is called to hand a task over, and once more when its run is over. */
export const CONTAINER_CALLS_A_TASK = 2
/** How long a container waits for a next task that does not come. */
export const IDLE_SECONDS = 10

type Size = { vcpu: number; gib: number; gb: number }

/** Memory and disk, which count as long as a container runs, whatever of it is used. */
export const SIZES: Record<(typeof INSTANCE_TYPES)[number], Size> = {
  lite: { vcpu: 1 / 16, gib: 0.25, gb: 2 },
  basic: { vcpu: 1 / 4, gib: 1, gb: 4 },
  "standard-1": { vcpu: 1 / 2, gib: 4, gb: 8 },
  "standard-2": { vcpu: 1, gib: 6, gb: 12 },
  "standard-3": { vcpu: 2, gib: 8, gb: 16 },
  "standard-4": { vcpu: 4, gib: 12, gb: 20 },
}
