import { isLateGrant, isPlausibleGrant } from "../contract/grant.ts"
import { toHex } from "../contract/hex.ts"
import type { TaskRun } from "./token.ts"

/** What a container was handed last: in which slot, and for whom. */
export type Handed = { slot: string; run: TaskRun }

export type SlotMemory = ReturnType<typeof openSlotMemory>

const TOKEN_BYTES = 32

type Facts = {
  grant: number
  handed: Handed
  /** The run that may still be under way. */
  run: TaskRun
  /** The process that took what was handed. */
  boot: string
  stopping: boolean
  /** What the container that runs, or ran last, wants to hear from whoever asks it. */
  token: string
}

/**
 * What the object of a container remembers of it, longer than the object and the container live.
 */
export function openSlotMemory(kv: SyncKvStorage) {
  function read<Name extends keyof Facts>(name: Name): Facts[Name] | null {
    return kv.get<Facts[Name]>(name) ?? null
  }
  return {
    /** Whether a word under this grant counts; later ones under lower grants do not any more. */
    admits(grant: number): boolean {
      const now = Date.now()
      const highest = read("grant") ?? 0
      if (!isPlausibleGrant(grant, now) || isLateGrant({ grant, highest, now })) return false
      if (grant !== highest) kv.put("grant", grant)
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
    /** Makes the token of a container that is about to start; the one before it is forgotten. */
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
 * What to do with a container that nothing was heard of for its idle time. A live lease keeps it; one
 * that was asked to stop and did not is ended.
 */
export function judgeIdle(of: { holdsLease: boolean; isStopping: boolean }) {
  if (of.holdsLease) return "keep"
  return of.isStopping ? "destroy" : "stop"
}
