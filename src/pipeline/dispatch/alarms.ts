import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { isDispatching } from "./queued-task.ts"
import type { TaskQueue } from "./queue.ts"
import type { ScanCursors } from "./scan-cursors.ts"
import type { SlotRequests } from "./slot-requests.ts"

/** Interval of the alarm where nothing has a deadline: the call that tells of a change may be lost. */
const IDLE_MS = 30_000
/** Wait before the next try of work that should be done by now. */
const RETRY_MS = 5_000
const EXPEDITED_MS = 1_000

/** An alarm has no name of its object, which is that of its account. */
const ACCOUNT = "account"

type Parts = { queue: TaskQueue; cursors: ScanCursors; slots: SlotRequests }

/** The next alarm of a dispatcher, which is set while it has something to look after. */
export class Alarms {
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

  /** The account whose queue this is; null before the first alarm was set. */
  account(): string | null {
    return this.#storage.kv.get<string>(ACCOUNT) ?? null
  }

  /** Has it go off soon, since what is begun now may die. */
  async armSoon(accountId: string): Promise<void> {
    await this.#arm(accountId, Date.now() + RETRY_MS)
  }

  /** Has it go off after a while at the latest, whatever is queued. */
  async armLater(accountId: string): Promise<void> {
    await this.#arm(accountId, Date.now() + IDLE_MS)
  }

  /** Has it go off at the first deadline of the queue, or after a while; never where it is empty. */
  async armNext(accountId: string): Promise<void> {
    const { queue, slots } = this.#parts
    if (!queue.isEmpty() || slots.hasUsed()) await this.#arm(accountId, this.#nextDeadline())
  }

  async #arm(accountId: string, at: number): Promise<void> {
    // An alarm further off may have been set by a clock that was ahead; an alarm long over was lost.
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
    const waitMsMax = settingsOf(this.#env).WAIT_SECONDS_MAX * 1000
    const expiryAt = (queue.waitsLongestSince() ?? Infinity) + waitMsMax
    const isExpedited = cursors.isExpedited("open") || cursors.isExpedited("blocked")
    return Math.min(
      now + (isExpedited ? EXPEDITED_MS : IDLE_MS),
      ...leases.map((at) => (at > now ? at : now + RETRY_MS)),
      ...(underWay.some(isDispatching) ? [now + RETRY_MS] : []),
      ...(backoffMs === null ? [] : [now + backoffMs]),
      // Jobs that could not be ended in time are tried again with the others.
      ...(expiryAt > now ? [expiryAt] : []),
    )
  }
}
