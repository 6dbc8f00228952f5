import type { SlotAllocation } from "../../rpc.ts"
import type { Requester } from "./requesters.ts"

/** A slot that nobody holds, and whose container it still is; null where it is empty. */
export type FreeSlot = { name: string; lastHolder: string | null }

/** Facts that a pool decides by: its slots, its allocations, and the accounts that want a slot. */
export type PoolState = {
  slotCount: number
  free: FreeSlot[]
  allocations: readonly SlotAllocation[]
  waiting: readonly Requester[]
  now: number
}

/** A container changes accounts at the cost of a start, so those that hold equally many take turns of this. */
const WARM_TURN_MS = 60_000

/** A free slot, and the account that is to get it. */
export type Share = { slot: string; accountId: string; lastHolder: string | null }

/** Every free slot that is to be allocated now, in order. `turn` is the number of the first allocation. */
export function shareSlots(state: PoolState, turn: number): Share[] {
  const room = openRoom(state)
  const shares: Share[] = []
  for (let next = findShare(room, state); next; next = findShare(room, state)) {
    take(room, next, { turn: turn + shares.length, now: state.now })
    shares.push(next)
  }
  return shares
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
  const [any] = allocations
  if (!any || slotCount < 2 || free.length > 0) return null
  if (allocations.some(({ accountId }) => accountId !== any.accountId)) return null
  const rivals = waiting.filter(({ accountId }) => accountId !== any.accountId)
  const others = allocations.filter(({ id }) => !kept.has(id))
  if (rivals.length === 0 || others.length === 0) return null
  const allocation = others.reduce((youngest, each) => (each.id > youngest.id ? each : youngest))
  const since = rivals.reduce((least, { waitingSince }) => Math.min(least, waitingSince), Infinity)
  return { allocation, at: since + waitMsMax }
}

/** Free slots that are left, and who holds and wants how many; changed by each share. */
type Room = {
  free: FreeSlot[]
  held: Map<string, number>
  /** Accounts that want a slot. */
  waiting: Map<string, Requester>
}

function openRoom({ free, allocations, waiting }: PoolState): Room {
  const held = new Map<string, number>()
  for (const { accountId } of allocations) held.set(accountId, (held.get(accountId) ?? 0) + 1)
  const wanting = waiting.filter(({ wanted }) => wanted > 0)
  return {
    free: [...free],
    held,
    waiting: new Map(wanting.map((requester) => [requester.accountId, requester])),
  }
}

function findShare(room: Room, { slotCount, now }: PoolState): Share | null {
  const next = findNeediest(room, slotCount)
  const cheapest = next && findCheapest(room, next)
  if (!next || !cheapest) return null
  const { name: slot, lastHolder } = cheapest
  const mayWait = heldBy(room, next) > 0 && now - next.waitingSince < WARM_TURN_MS
  const warm = mayWait && lastHolder !== null ? room.waiting.get(lastHolder) : undefined
  const isEqual =
    warm && heldBy(room, warm) === heldBy(room, next) && isEligible(room, warm, slotCount)
  return { slot, accountId: (isEqual ? warm : next).accountId, lastHolder }
}

function take(
  room: Room,
  { slot, accountId }: Share,
  { turn, now }: { turn: number; now: number },
): void {
  const { held, waiting } = room
  room.free = room.free.filter(({ name }) => name !== slot)
  held.set(accountId, (held.get(accountId) ?? 0) + 1)
  const requester = waiting.get(accountId)
  if (!requester || requester.wanted < 2) waiting.delete(accountId)
  else {
    const wanted = requester.wanted - 1
    waiting.set(accountId, { ...requester, wanted, turn, waitingSince: now })
  }
}

/** Of the accounts that may have another slot, the one that holds least, and whose turn it is. */
function findNeediest(room: Room, slotCount: number): Requester | null {
  let neediest: Requester | null = null
  for (const each of room.waiting.values()) {
    if (!isEligible(room, each, slotCount)) continue
    if (!neediest || compareNeed(room, each, neediest) < 0) neediest = each
  }
  return neediest
}

function compareNeed(room: Room, one: Requester, other: Requester): number {
  return (
    heldBy(room, one) - heldBy(room, other) ||
    one.turn - other.turn ||
    one.waitingSince - other.waitingSince
  )
}

/** How many slots an account may hold while others want some, is its share, and one at least. */
function isEligible(room: Room, requester: Requester, slotCount: number): boolean {
  if (room.waiting.size === 1) return true
  const slotsMax = Math.max(1, Math.floor(slotCount * requester.slotsShareMax))
  return heldBy(room, requester) < slotsMax
}

function heldBy({ held }: Room, { accountId }: Requester): number {
  return held.get(accountId) ?? 0
}

/**
 * The slot that an account gets at least cost, the first of equals: its own, an empty one, or one whose
 * container is to end, last those that their accounts may use again soon.
 */
function findCheapest({ free, waiting }: Room, { accountId }: Requester): FreeSlot | null {
  function costOf({ lastHolder }: FreeSlot): number {
    if (lastHolder === accountId) return 0
    if (lastHolder === null) return 1
    return waiting.has(lastHolder) ? 3 : 2
  }
  const [first = null, ...others] = free
  return others.reduce((best, slot) => (best && costOf(slot) < costOf(best) ? slot : best), first)
}
