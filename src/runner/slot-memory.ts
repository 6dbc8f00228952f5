import { isLateAllocation, isPlausibleAllocation } from "../contract/slot-allocation.ts"
import { toHex } from "../crypto/hex.ts"
import type { TaskRun } from "../rpc.ts"

/** The task that a container was handed last: in which slot, and for whom. */
export type Handed = { slot: string; run: TaskRun }

export type SlotMemory = ReturnType<typeof openSlotMemory>

const TOKEN_BYTES = 32

/** Waits before a container is started again after one that had no sandbox; they double. */
const RESTART_MS = 2000
const RESTART_MS_MAX = 60_000

/** Waits before the platform is asked again for a container that it did not start; they double. */
const START_MS = 1000
const START_MS_MAX = 15_000

type Facts = {
  /** The highest number of an allocation of the slot; kept under the name it always had. */
  grant: number
  handed: Handed
  /** The process that took what was handed. */
  boot: string
  /** The bearer token of the container that runs, or ran last. */
  token: string
  /** Containers in a row that had no sandbox: how many, the last one's process, and when. */
  unsandboxed: { count: number; boot: string | null; at: number }
  /** Starts in a row that failed: how many, and when the last one did. */
  unstarted: { count: number; at: number }
}

/**
 * What the object of a container keeps of it, longer than the object and the container live. That a run
 * ended, and that the container was told to stop, is in memory alone: D1 says of whose run it is whether
 * it ended, and who does not stop is told so again.
 */
export function openSlotMemory(kv: SyncKvStorage) {
  let ended: Pick<TaskRun, "taskId" | "fence"> | null = null
  let isStopping = false
  const read = openReader(kv)
  return {
    ...sandboxMemory(kv),
    ...startMemory(kv),
    /** Whether a call under this allocation counts; calls under lower ones no longer do then. */
    admits(allocation: number): boolean {
      const now = Date.now()
      const highest = read("grant") ?? 0
      if (!isPlausibleAllocation(allocation, now)) return false
      if (isLateAllocation({ allocation, highest, now })) return false
      if (allocation !== highest) kv.put("grant", allocation)
      return true
    },
    noteHanded(handed: Handed): void {
      const before = read("handed")?.run
      const isSame = before?.taskId === handed.run.taskId && before.fence === handed.run.fence
      if (!isSame) kv.put("handed", handed)
      ended = null
      isStopping = false
    },
    noteBoot(boot: string): void {
      if (read("boot") !== boot) kv.put("boot", boot)
    },
    noteStopping(): void {
      isStopping = true
    },
    /** Forgets a run that ended; a later one stays. */
    forgetRun({ taskId, fence }: Pick<TaskRun, "taskId" | "fence">): void {
      const run = read("handed")?.run
      if (run?.taskId === taskId && run.fence === fence) ended = { taskId, fence }
    },
    /** The process that stopped with the container and its slot; null where it took no task. */
    forgetProcess(): { slot: string; boot: string } | null {
      const [handed, boot] = [read("handed"), read("boot")]
      kv.delete("boot")
      ended = handed?.run ?? null
      isStopping = false
      return handed && boot !== null ? { slot: handed.slot, boot } : null
    },
    /** Makes the token of a container that is about to start; the one before it is deleted. */
    makeToken(): string {
      const token = toHex(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)).buffer)
      kv.put("token", token)
      return token
    },
    token: () => read("token"),
    /** The run that may still be under way. */
    run(): TaskRun | null {
      const run = read("handed")?.run ?? null
      return run && ended?.taskId === run.taskId && ended.fence === run.fence ? null : run
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
    /** The container refused a task since it has no sandbox. */
    noteUnsandboxed(boot: string | null, now: number): void {
      const known = read("unsandboxed")
      const isSame = known !== null && known.boot === boot
      const count = (known?.count ?? 0) + (isSame ? 0 : 1)
      kv.put("unsandboxed", { count, boot, at: now })
    },
    /** The container took a task; true where the one before had no sandbox. */
    noteSandboxed: () => kv.delete("unsandboxed"),
    /** Milliseconds until a container may be started after those that had no sandbox. */
    restartsIn(now: number): number {
      const { count, at } = read("unsandboxed") ?? { count: 0, at: 0 }
      return leftOfWait({ count, at, now, firstMs: RESTART_MS, maxMs: RESTART_MS_MAX })
    },
  }
}

function startMemory(kv: SyncKvStorage) {
  const read = openReader(kv)
  return {
    /** The platform refused to start the container, or the container ended at once. */
    noteNotStarted(now: number): void {
      const { count } = read("unstarted") ?? { count: 0 }
      kv.put("unstarted", { count: count + 1, at: now })
    },
    /** The container started; true where the start before failed. */
    noteStarted: () => kv.delete("unstarted"),
    /** Milliseconds until the platform may be asked for a container again. */
    startsIn(now: number): number {
      const { count, at } = read("unstarted") ?? { count: 0, at: 0 }
      return leftOfWait({ count, at, now, firstMs: START_MS, maxMs: START_MS_MAX })
    },
  }
}

/** What is left of the wait after the last of `count` failures in a row; never more than that wait. */
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
 * What to do with a container that had no request for its idle time. A live lease keeps it; one
 * that was asked to stop and did not is destroyed.
 */
export function judgeIdle(of: { holdsLease: boolean; isStopping: boolean }) {
  if (of.holdsLease) return "keep"
  return of.isStopping ? "destroy" : "stop"
}
