import type { AccountDatabase } from "../../storage/database.ts"
import { listOpenIds } from "../../storage/open-tasks.ts"
import type { TaskQueue } from "./queue.ts"
import { isWaiting, NO_POOL } from "./queued-task.ts"

/** Tasks of D1 that a step looks for in the queue, an entry of an index each; more where it is expedited. */
const OPEN_IDS = { usual: 300, expedited: 500 }
/** Queued tasks that a step looks for in D1, with what they wait for. */
const CHECKED = { usual: 50, expedited: 200 }

/** Scans of D1's open tasks, of queued tasks that wait, and of those that wait for inputs. */
type Scan = "open" | "waiting" | "blocked"

/**
 * Cursors of scans through the tasks of an account, a bounded number at a step, round and round. An
 * expedited scan goes on soon, until it has come round.
 */
export class ScanCursors {
  readonly #kv: SyncKvStorage
  readonly #queue: TaskQueue
  /** How often each expedited scan has still to reach its end. */
  readonly #endsToReach = new Map<Scan, number>()

  constructor(kv: SyncKvStorage, queue: TaskQueue) {
    this.#kv = kv
    this.#queue = queue
  }

  /** The id after which a scan goes on; `""` at its beginning. */
  at(scan: Scan): string {
    return this.#kv.get<string>(keyOf(scan)) ?? ""
  }

  isExpedited(scan: "open" | "blocked"): boolean {
    return (this.#endsToReach.get(scan) ?? 0) > 0
  }

  /** Has a scan go on soon, until all that lies behind and before a cursor was looked at. */
  expedite(scan: "open" | "blocked", cursor = this.at(scan)): void {
    if (!this.isExpedited(scan)) this.#endsToReach.set(scan, cursor === "" ? 1 : 2)
  }

  /** The next open tasks of D1 that are not queued, or are queued as if nobody had claimed them. */
  async findUnknown(database: AccountDatabase): Promise<string[]> {
    const limit = this.isExpedited("open") ? OPEN_IDS.expedited : OPEN_IDS.usual
    const { running, waiting } = await listOpenIds(database, { after: this.at("open"), limit })
    this.#advance("open", waiting, limit)
    const claimed = running.filter((id) => {
      const queued = this.#queue.find(id)
      return queued !== null && isWaiting(queued)
    })
    const withoutPool = this.#queue.blockedIn(NO_POOL, CHECKED.usual).map(({ id }) => id)
    const lacking = this.#queue.lacking([...running, ...waiting])
    return [...new Set([...claimed, ...withoutPool, ...lacking])]
  }

  /** The next queued tasks that may be over, or wait in vain, where a call was lost. */
  nextWaiting(): string[] {
    const isExpedited = this.isExpedited("blocked")
    const scan = isExpedited ? "blocked" : "waiting"
    const limit = isExpedited ? CHECKED.expedited : CHECKED.usual
    const states = isExpedited ? (["blocked"] as const) : (["blocked", "ready"] as const)
    const ids = this.#queue.nextIn(states, this.at(scan), limit).map(({ id }) => id)
    this.#advance(scan, ids, limit)
    return ids
  }

  /** Moves a cursor behind a step, which reached the end where it has fewer ids than its limit. */
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
