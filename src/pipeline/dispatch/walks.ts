import type { AccountDatabase } from "../../storage/database.ts"
import { listOpenIds } from "../../storage/open-tasks.ts"
import type { TaskQueue } from "../../storage/task-queue.ts"
import { isWaiting } from "./queued-task.ts"
import { NO_POOL } from "./reconcile.ts"

/** Tasks of D1 that a step looks for in the queue, an entry of an index each; more in a hurry. */
const OPEN_IDS = { usual: 300, hurried: 500 }
/** Queued tasks that a step looks for in D1, with what they wait for. */
const CHECKED = { usual: 50, hurried: 200 }

/** Through D1's open tasks, through queued tasks that wait, and through those that wait for inputs. */
type Walk = "open" | "waiting" | "blocked"

export type Walks = ReturnType<typeof openWalks>

/**
 * Walks through the tasks of an account, a bounded number at a step, round and round. One that is
 * hurried goes on soon, until it has come round.
 */
export function openWalks(queue: TaskQueue) {
  /** How many ends of a walk are still to come. */
  const hurries = new Map<Walk, number>()
  function pass(walk: Walk, last: string | null): void {
    queue.saveWalkMark(walk, last ?? "")
    if (last === null) hurries.set(walk, Math.max(0, (hurries.get(walk) ?? 0) - 1))
  }
  function isHurried(walk: Walk): boolean {
    return (hurries.get(walk) ?? 0) > 0
  }
  return {
    isHurried: () => isHurried("open") || isHurried("blocked"),
    isAdopting: () => isHurried("open"),
    openMark: () => queue.walkMark("open"),
    /** Has a walk go on soon, until all that lies behind and before a mark was walked through. */
    hurryFrom(walk: "open" | "blocked", mark = queue.walkMark(walk)): void {
      if (!isHurried(walk)) hurries.set(walk, mark === "" ? 1 : 2)
    },
    /** The next open tasks of D1 that are not queued, or are queued as if nobody had claimed them. */
    async findUnknown(database: AccountDatabase): Promise<string[]> {
      const after = queue.walkMark("open")
      const limit = isHurried("open") ? OPEN_IDS.hurried : OPEN_IDS.usual
      const { running, waiting } = await listOpenIds(database, { after, limit })
      pass("open", waiting.length < limit ? null : (waiting.at(-1) ?? null))
      const claimed = running.filter((id) => {
        const queued = queue.find(id)
        return queued !== null && isWaiting(queued)
      })
      const withoutPool = queue.blockedIn(NO_POOL, CHECKED.usual).map(({ id }) => id)
      return [...new Set([...claimed, ...withoutPool, ...queue.lacking([...running, ...waiting])])]
    },
    /** The next queued tasks that may be over, or wait in vain, where a call was lost. */
    nextToCheck(): string[] {
      const [walk, next, limit] = isHurried("blocked")
        ? (["blocked", queue.blockedAfter, CHECKED.hurried] as const)
        : (["waiting", queue.waitingAfter, CHECKED.usual] as const)
      const found = next(queue.walkMark(walk), limit).map(({ id }) => id)
      pass(walk, found.length < limit ? null : (found.at(-1) ?? null))
      return found
    },
  }
}
