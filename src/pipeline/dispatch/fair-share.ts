import type { SlotAllocation } from "../../rpc.ts"
import type { Requester } from "../../storage/slot-allocations.ts"

/** A slot that nobody holds, and whose container it still is; null where it is empty. */
export type FreeSlot = { name: string; lastHolder: string | null }

/** What a pool decides by: its slots, its allocations, and the accounts that want a slot. */
export type PoolState = {
  slotCount: number
  free: FreeSlot[]
  allocations: readonly SlotAllocation[]
  waiting: readonly Requester[]
  now: number
}

/** A container changes accounts at the cost of a start, so those that hold equally many take turns of this. */
const WARM_TURN_MS = 60_000

/** The free slot that is to be allocated next, and to whom; null where there is none to give. */
export function nextAllocation(state: PoolState): { slot: string; accountId: string } | null {
  const neediest = findNeediest(state)
  const [next] = neediest
  if (!next) return null
  const [slot] = state.free.toSorted(
    (one, other) => costOf(one, next, state) - costOf(other, next, state),
  )
  if (!slot) return null
  const warm = neediest.find(({ accountId }) => accountId === slot.lastHolder)
  const mayWait = countHeld(state, next) > 0 && state.now - next.waitingSince < WARM_TURN_MS
  return { slot: slot.name, accountId: (mayWait && warm ? warm : next).accountId }
}

/** An allocation that is to go to another account, and when. */
export type HandOver = { allocation: SlotAllocation; at: number }

/**
 * The run to interrupt where one account holds every slot and another has waited for `waitMsMax`:
 * its youngest, but none of `kept`. Null where nobody waits so, and in a pool of one slot: there
 * each run holds every slot, and long ones would be interrupted whenever somebody else comes.
 */
export function findHandOver(
  { slotCount, free, allocations, waiting }: PoolState,
  { waitMsMax, kept }: { waitMsMax: number; kept: ReadonlySet<number> },
): HandOver | null {
  const [first, ...others] = allocations.toSorted((one, other) => other.id - one.id)
  if (!first || slotCount < 2 || free.length > 0) return null
  if (others.some(({ accountId }) => accountId !== first.accountId)) return null
  const rivals = waiting.filter(({ accountId }) => accountId !== first.accountId)
  const allocation = [first, ...others].find(({ id }) => !kept.has(id))
  if (rivals.length === 0 || !allocation) return null
  const since = Math.min(...rivals.map(({ waitingSince }) => waitingSince))
  return { allocation, at: since + waitMsMax }
}

/** Of the accounts that may have another slot, those that hold least, in their turn. */
function findNeediest(state: PoolState): Requester[] {
  const eligible = state.waiting.filter((requester) => {
    if (requester.wanted < 1) return false
    const isAlone = state.waiting.every((other) => other === requester || other.wanted < 1)
    return isAlone || countHeld(state, requester) < slotsMaxOf(state, requester)
  })
  const least = Math.min(...eligible.map((requester) => countHeld(state, requester)))
  return eligible
    .filter((requester) => countHeld(state, requester) === least)
    .toSorted((one, other) => one.turn - other.turn || one.waitingSince - other.waitingSince)
}

/** How many slots an account may hold while others want some. */
function slotsMaxOf({ slotCount }: PoolState, { slotsShareMax }: Requester): number {
  return Math.max(1, Math.floor(slotCount * slotsShareMax))
}

function countHeld({ allocations }: PoolState, { accountId }: Requester): number {
  return allocations.filter((each) => each.accountId === accountId).length
}

/** What is lost when an account gets a slot, as a rank: nothing, a start, a container in use. */
function costOf(
  { lastHolder }: FreeSlot,
  { accountId }: Requester,
  { waiting }: PoolState,
): number {
  if (lastHolder === accountId) return 0
  if (lastHolder === null) return 1
  return waiting.some((other) => other.accountId === lastHolder) ? 3 : 2
}
