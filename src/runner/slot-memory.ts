import { isLateAllocation, isPlausibleAllocation } from "../contract/slot-allocation.ts"
import { toHex } from "../crypto/hex.ts"
import type { TaskRun } from "../rpc.ts"

/** The task that a container was handed last: in which slot, and for whom. */
export type Handed = { slot: string; run: TaskRun }

export type SlotMemory = ReturnType<typeof openSlotMemory>

const TOKEN_BYTES = 32

type Facts = {
  /** The highest number of an allocation of the slot; kept under the name it always had. */
  grant: number
  handed: Handed
  /** The run that may still be under way. */
  run: TaskRun
  /** The process that took what was handed. */
  boot: string
  stopping: boolean
  /** The bearer token of the container that runs, or ran last. */
  token: string
}

/** What the object of a container keeps of it, longer than the object and the container live. */
export function openSlotMemory(kv: SyncKvStorage) {
  function read<Name extends keyof Facts>(name: Name): Facts[Name] | null {
    return kv.get<Facts[Name]>(name) ?? null
  }
  return {
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
      kv.put("handed", handed)
      kv.put("run", handed.run)
      kv.delete("stopping")
    },
    noteBoot: (boot: string) => kv.put("boot", boot),
    noteStopping: () => kv.put("stopping", true),
    /** Forgets a run that ended; a later one stays. */
    forgetRun(ended: Pick<TaskRun, "taskId" | "fence">): void {
      const run = read("run")
      if (run?.taskId === ended.taskId && run.fence === ended.fence) kv.delete("run")
    },
    /** The process that stopped with the container and its slot; null where it took no task. */
    forgetProcess(): { slot: string; boot: string } | null {
      const [handed, boot] = [read("handed"), read("boot")]
      for (const name of ["boot", "run", "stopping"]) kv.delete(name)
      return handed && boot !== null ? { slot: handed.slot, boot } : null
    },
    /** Makes the token of a container that is about to start; the one before it is deleted. */
    makeToken(): string {
      const token = toHex(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)).buffer)
      kv.put("token", token)
      return token
    },
    token: () => read("token"),
    run: () => read("run"),
    isStopping: () => read("stopping") ?? false,
  }
}

/**
 * What to do with a container that had no request for its idle time. A live lease keeps it; one
 * that was asked to stop and did not is destroyed.
 */
export function judgeIdle(of: { holdsLease: boolean; isStopping: boolean }) {
  if (of.holdsLease) return "keep"
  return of.isStopping ? "destroy" : "stop"
}
