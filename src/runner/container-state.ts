import {
  isStaleAllocationNumber,
  isPlausibleAllocationNumber,
} from "../contract/slot-allocation.ts"
import { toHex } from "../platform/crypto/hex.ts"
import type { TaskRun } from "../bindings/rpc.ts"

/** Run of the task that was posted to a container last, with its slot. */
export type PostedRun = { slot: string; run: TaskRun }

export type StoredContainerState = ReturnType<typeof createContainerState>

const TOKEN_BYTES = 32

/**
 * First and longest backoff before a new start after the sandbox of a container did not work, in
 * milliseconds. The backoff doubles with each consecutive container with this problem.
 */
const RESTART_MS = 2000
const RESTART_MS_MAX = 60_000

/**
 * First and longest backoff after failed starts of the container, in milliseconds. The backoff
 * doubles with each failed start.
 */
const START_MS = 1000
const START_MS_MAX = 15_000

type Facts = {
  /**
   * Highest number of the slot's allocations to accounts. The storage key keeps the name `grant`,
   * an older word for an allocation, because stored values have this name.
   */
  grant: number
  handed: PostedRun
  /** Boot id of the process that accepted the posted task. */
  boot: string
  /** Bearer token of the running container, or of the container that ran last. */
  token: string
  /**
   * Consecutive containers whose sandbox did not work: their count, and the boot id and time of the
   * last one.
   */
  unsandboxed: { count: number; boot: string | null; at: number }
  /** Consecutive failed starts: their count, and the time of the last one. */
  unstarted: { count: number; at: number }
}

/**
 * Opens the state of a container in the storage of its Durable Object, so that the state outlives
 * the container and the object's memory. Ends of runs and stop requests are kept in memory only,
 * because D1 has the state of each run, and a stop request is repeated.
 */
export function createContainerState(kv: SyncKvStorage) {
  let endedRun: Pick<TaskRun, "taskId" | "fence"> | null = null
  let isStopping = false
  const read = openReader(kv)
  return {
    ...sandboxMemory(kv),
    ...startMemory(kv),
    /**
     * Reports whether a call for the slot's allocation with this number is allowed. Later
     * allocations have higher numbers: after an allowed call, calls with lower numbers are refused
     * as outdated.
     */
    admits(allocation: number): boolean {
      const now = Date.now()
      const highest = read("grant") ?? 0
      if (!isPlausibleAllocationNumber(allocation, now)) return false
      if (isStaleAllocationNumber({ allocation, highest, now })) return false
      if (allocation !== highest) kv.put("grant", allocation)
      return true
    },
    noteHanded(handed: PostedRun): void {
      const before = read("handed")?.run
      const isSame = before?.taskId === handed.run.taskId && before.fence === handed.run.fence
      if (!isSame) kv.put("handed", handed)
      endedRun = null
      isStopping = false
    },
    noteBoot(boot: string): void {
      if (read("boot") !== boot) kv.put("boot", boot)
    },
    noteStopping(): void {
      isStopping = true
    },
    /** Records the end of a run. Does nothing if a later run was posted. */
    forgetRun({ taskId, fence }: Pick<TaskRun, "taskId" | "fence">): void {
      const run = read("handed")?.run
      if (run?.taskId === taskId && run.fence === fence) endedRun = { taskId, fence }
    },
    /**
     * Records a stop of the container. Returns the container's slot and the boot id of its process,
     * if both are known.
     */
    forgetProcess(): { slot: string; boot: string } | null {
      const [handed, boot] = [read("handed"), read("boot")]
      kv.delete("boot")
      endedRun = handed?.run ?? null
      isStopping = false
      return handed && boot !== null ? { slot: handed.slot, boot } : null
    },
    /** Creates the bearer token of a container that is about to start. */
    makeToken(): string {
      const token = toHex(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)).buffer)
      kv.put("token", token)
      return token
    },
    token: () => read("token"),
    /** Returns the run that was posted last, unless its end is known. */
    run(): TaskRun | null {
      const run = read("handed")?.run ?? null
      return run && endedRun?.taskId === run.taskId && endedRun.fence === run.fence ? null : run
    },
    slot: () => read("handed")?.slot ?? null,
    isStopping: () => isStopping,
  }
}

function openReader(kv: SyncKvStorage) {
  return <Name extends keyof Facts>(name: Name): Facts[Name] | null =>
    kv.get<Facts[Name]>(name) ?? null
}

function sandboxMemory(kv: SyncKvStorage) {
  const read = openReader(kv)
  return {
    /**
     * Records that the container refused a task because the container's sandbox does not work.
     * Counts each process of a container once.
     */
    noteUnsandboxed(boot: string | null, now: number): void {
      const record = read("unsandboxed")
      const isSame = record !== null && record.boot === boot
      const count = (record?.count ?? 0) + (isSame ? 0 : 1)
      kv.put("unsandboxed", { count, boot, at: now })
    },
    /**
     * Records that the container accepted a task. Returns true if the sandbox of the previous
     * container did not work.
     */
    noteSandboxed: () => kv.delete("unsandboxed"),
    /**
     * Returns the remaining backoff after containers whose sandbox did not work, in milliseconds.
     */
    restartsIn(now: number): number {
      const { count, at } = read("unsandboxed") ?? { count: 0, at: 0 }
      return leftOfWait({ count, at, now, firstMs: RESTART_MS, maxMs: RESTART_MS_MAX })
    },
  }
}

function startMemory(kv: SyncKvStorage) {
  const read = openReader(kv)
  return {
    /**
     * Records that the platform refused to start the container, or that the container exited at
     * once.
     */
    noteNotStarted(now: number): void {
      const { count } = read("unstarted") ?? { count: 0 }
      kv.put("unstarted", { count: count + 1, at: now })
    },
    /** Records that the container started. Returns true if the previous start failed. */
    noteStarted: () => kv.delete("unstarted"),
    /** Returns the remaining backoff after failed starts, in milliseconds. */
    startsIn(now: number): number {
      const { count, at } = read("unstarted") ?? { count: 0, at: 0 }
      return leftOfWait({ count, at, now, firstMs: START_MS, maxMs: START_MS_MAX })
    },
  }
}

/**
 * Returns the remaining backoff after `count` consecutive failures, in milliseconds. A clock that
 * was set back does not prolong the backoff.
 */
function leftOfWait(of: {
  count: number
  at: number
  now: number
  firstMs: number
  maxMs: number
}) {
  const { count, at, now, firstMs, maxMs } = of
  const waitMs = count === 0 ? 0 : Math.min(firstMs * 2 ** (count - 1), maxMs)
  return Math.min(waitMs, Math.max(0, at + waitMs - now))
}

/**
 * Decides whether to keep a container that got no requests for its idle time. Keeps the container
 * while its run holds a lease and therefore still has its task. Otherwise stops the container, or
 * destroys the container if an earlier stop had no effect.
 */
export function chooseIdleContainerAction(of: { holdsLease: boolean; isStopping: boolean }) {
  if (of.holdsLease) return "keep"
  return of.isStopping ? "destroy" : "stop"
}
