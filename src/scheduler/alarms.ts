import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { isTaskBeingDispatched } from "./queued-task.ts"
import type { TaskQueue } from "./queue.ts"
import type { ScanCursors } from "./scan-cursors.ts"
import type { SlotRequests } from "./slot-requests.ts"

/**
 * Interval of the alarm if no deadline is earlier, in milliseconds. The alarm compares the queue
 * with D1, because a call that reports a change may be lost.
 */
const IDLE_MS = 30_000
/** Wait before overdue work is attempted again, in milliseconds. */
const RETRY_MS = 5_000
const EXPEDITED_MS = 1_000

/**
 * Storage key of the account id. The dispatcher stores the id, because an alarm does not know the
 * name of its object.
 */
const ACCOUNT = "account"

type Parts = { queue: TaskQueue; cursors: ScanCursors; slots: SlotRequests }

/** Alarm of a dispatcher. The alarm is set while the dispatcher has tasks or allocations. */
export class DispatcherAlarm {
  readonly #storage: Pick<DurableObjectStorage, "kv" | "setAlarm">
  readonly #env: Env
  readonly #parts: Parts
  #armedFor = 0

  constructor(storage: Pick<DurableObjectStorage, "kv" | "setAlarm">, env: Env, parts: Parts) {
    this.#storage = storage
    this.#env = env
    this.#parts = parts
  }

  wentOff(): void {
    this.#armedFor = 0
  }

  /** Returns the account id of the dispatcher. Returns null before the first alarm was set. */
  account(): string | null {
    return this.#storage.kv.get<string>(ACCOUNT) ?? null
  }

  /**
   * Sets the alarm to a few seconds from now before work starts, so that the alarm repeats the work
   * if the Worker dies.
   */
  async armSoon(accountId: string): Promise<void> {
    await this.#arm(accountId, Date.now() + RETRY_MS)
  }

  /** Sets the alarm to the idle interval from now at the latest, even if the queue is empty. */
  async armLater(accountId: string): Promise<void> {
    await this.#arm(accountId, Date.now() + IDLE_MS)
  }

  /**
   * Sets the alarm to the first deadline of the queue, and to the idle interval from now at the
   * latest. Sets no alarm for an empty queue without allocations.
   */
  async armNext(accountId: string): Promise<void> {
    const { queue, slots } = this.#parts
    if (!queue.isEmpty() || slots.hasUsed()) await this.#arm(accountId, this.#nextDeadline())
  }

  async #arm(accountId: string, at: number): Promise<void> {
    // Keeps an earlier alarm. Replaces a later alarm, which a fast clock may have set. Also
    // replaces an alarm whose time is long past, because that alarm was lost.
    if (this.#armedFor <= at && this.#armedFor >= Date.now() - RETRY_MS) return
    if (this.account() === null) this.#storage.kv.put(ACCOUNT, accountId)
    this.#armedFor = at
    await this.#storage.setAlarm(at)
  }

  #nextDeadline(): number {
    const { queue, cursors } = this.#parts
    const now = Date.now()
    const underWay = queue.underWay()
    const leases = underWay.flatMap(({ state, leaseUntil }) =>
      state === "running" ? leaseUntil : [],
    )
    const backoffMs = queue.nextReadyIn(now)
    const waitMsMax = getSettings(this.#env).WAIT_SECONDS_MAX * 1000
    const expiryAt = (queue.waitsLongestSince() ?? Infinity) + waitMsMax
    const isExpedited = cursors.isExpedited("open") || cursors.isExpedited("blocked")
    return Math.min(
      now + (isExpedited ? EXPEDITED_MS : IDLE_MS),
      ...leases.map((at) => (at > now ? at : now + RETRY_MS)),
      ...(underWay.some(isTaskBeingDispatched) ? [now + RETRY_MS] : []),
      ...(backoffMs === null ? [] : [now + backoffMs]),
      // Jobs that are already past their expiry set no earlier alarm. The next regular alarm tries
      // to end them again.
      ...(expiryAt > now ? [expiryAt] : []),
    )
  }
}
