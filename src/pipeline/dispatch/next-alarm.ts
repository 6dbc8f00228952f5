import type { TaskQueue } from "../../storage/task-queue.ts"
import { isDispatching } from "./queued-task.ts"

/** What has no deadline is looked at so often, since the call that tells of it may be lost. */
const IDLE_MS = 30_000
/** What should be done by now is tried again so soon. */
const RETRY_MS = 5_000
const HURRY_MS = 1_000

/** The next alarm of a dispatcher, which is set while it has something to look after. */
export function openNextAlarm(
  storage: Pick<DurableObjectStorage, "setAlarm">,
  queue: TaskQueue,
  { waitMsMax, isHurried }: { waitMsMax: () => number; isHurried: () => boolean },
) {
  let armedFor = 0
  async function arm(accountId: string, at: number): Promise<void> {
    // One that is further off may have been set by a clock that was ahead; one long over was lost.
    if (armedFor <= at && armedFor >= Date.now() - RETRY_MS) return
    queue.saveAccount(accountId)
    armedFor = at
    await storage.setAlarm(at)
  }
  return {
    wentOff(): void {
      armedFor = 0
    },
    /** Has it go off soon, since what is begun now may die. */
    armSoon: async (accountId: string): Promise<void> =>
      await arm(accountId, Date.now() + RETRY_MS),
    /** Has it go off after a while at the latest, whatever is queued. */
    armLater: async (accountId: string): Promise<void> =>
      await arm(accountId, Date.now() + IDLE_MS),
    /** Has it go off at the first deadline of the queue, or after a while; never where it is empty. */
    async armNext(accountId: string): Promise<void> {
      if (queue.isEmpty() && !queue.hasUsedAllocations()) return
      await arm(accountId, nextLookAt(queue, { waitMsMax: waitMsMax(), isHurried: isHurried() }))
    },
  }
}

function nextLookAt(
  queue: TaskQueue,
  { isHurried, waitMsMax }: { isHurried: boolean; waitMsMax: number },
): number {
  const now = Date.now()
  const underWay = queue.underWay()
  const leases = underWay.flatMap(({ state, leaseUntil }) =>
    state === "running" ? leaseUntil : [],
  )
  const backoffMs = queue.nextReadyIn(now)
  const expiryAt = (queue.waitsLongestSince() ?? Infinity) + waitMsMax
  return Math.min(
    now + (isHurried ? HURRY_MS : IDLE_MS),
    ...leases.map((at) => (at > now ? at : now + RETRY_MS)),
    ...(underWay.some(isDispatching) ? [now + RETRY_MS] : []),
    ...(backoffMs === null ? [] : [now + backoffMs]),
    // What could not be ended in time is tried again with the others.
    ...(expiryAt > now ? [expiryAt] : []),
  )
}
