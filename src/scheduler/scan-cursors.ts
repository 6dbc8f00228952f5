import type { AccountDatabase } from "../db/database.ts"
import { listOpenTaskIds } from "../db/jobs/open-tasks.ts"
import type { TaskQueue } from "./queue.ts"
import { isTaskWaiting } from "./queued-task.ts"

/**
 * Maximum number of open tasks of D1 that one step of a scan compares with the queue. Steps of an
 * expedited scan follow each other quickly and are larger.
 */
const OPEN_IDS = { usual: 300, expedited: 500 }
/**
 * Maximum number of queued tasks that one step of a scan compares with D1: fewer in a usual scan,
 * more in an expedited scan.
 */
const CHECKED = { usual: 50, expedited: 200 }

/**
 * Name of a scan: of D1's open tasks, of waiting tasks in the queue, or of queued tasks that are
 * blocked by an input.
 */
type Scan = "open" | "waiting" | "blocked"

/**
 * Cursors of cyclic scans through the tasks of an account. Each step covers a bounded number of
 * tasks. The steps of an expedited scan follow each other within a second until all tasks are
 * covered.
 */
export class ScanCursors {
  readonly #kv: SyncKvStorage
  readonly #queue: TaskQueue
  /**
   * Number of times that each expedited scan must still reach the last task: 1 if the scan began at
   * the first task, 2 if it began at a later task.
   */
  readonly #endsToReach = new Map<Scan, number>()

  constructor(kv: SyncKvStorage, queue: TaskQueue) {
    this.#kv = kv
    this.#queue = queue
  }

  /** Returns the id after which a scan continues. Returns `""` at the beginning of a scan. */
  at(scan: Scan): string {
    return this.#kv.get<string>(keyOf(scan)) ?? ""
  }

  isExpedited(scan: "open" | "blocked"): boolean {
    return (this.#endsToReach.get(scan) ?? 0) > 0
  }

  /**
   * Expedites a scan until the scan has covered all tasks: first the tasks after its cursor, then
   * those up to the cursor.
   */
  expedite(scan: "open" | "blocked", cursor = this.at(scan)): void {
    if (!this.isExpedited(scan)) this.#endsToReach.set(scan, cursor === "" ? 1 : 2)
  }

  /**
   * Takes a step of the scan of D1's open tasks. Returns the ids of tasks that are not queued, or
   * that are claimed in D1 but wait in the queue.
   */
  async findUnknown(database: AccountDatabase): Promise<string[]> {
    const limit = this.isExpedited("open") ? OPEN_IDS.expedited : OPEN_IDS.usual
    const { running, waiting } = await listOpenTaskIds(database, { after: this.at("open"), limit })
    this.#advance("open", waiting, limit)
    const claimed = running.filter((id) => {
      const queued = this.#queue.find(id)
      return queued !== null && isTaskWaiting(queued)
    })
    const lacking = this.#queue.lacking([...running, ...waiting])
    return [...new Set([...claimed, ...lacking])]
  }

  /**
   * Returns the ids of the next waiting tasks in the queue, and advances the scan. D1 may have
   * changed some of these tasks, because a call was lost.
   */
  nextWaiting(): string[] {
    const isExpedited = this.isExpedited("blocked")
    const scan = isExpedited ? "blocked" : "waiting"
    const limit = isExpedited ? CHECKED.expedited : CHECKED.usual
    const states = isExpedited ? (["blocked"] as const) : (["blocked", "ready"] as const)
    const ids = this.#queue.nextIn(states, this.at(scan), limit).map(({ id }) => id)
    this.#advance(scan, ids, limit)
    return ids
  }

  /**
   * Moves the cursor of a scan past the ids of a step. A step with fewer ids than its limit has
   * reached the last task.
   */
  #advance(scan: Scan, ids: readonly string[], limit: number): void {
    const last = ids.length < limit ? "" : (ids.at(-1) ?? "")
    if (this.at(scan) !== last) this.#kv.put(keyOf(scan), last)
    if (last !== "") return
    this.#endsToReach.set(scan, Math.max(0, (this.#endsToReach.get(scan) ?? 0) - 1))
  }
}

function keyOf(scan: Scan): string {
  return `scan of ${scan} tasks`
}
