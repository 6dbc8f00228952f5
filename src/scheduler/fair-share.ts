import type { SlotAllocation } from "../bindings/rpc.ts"
import type { SlotRequester } from "./requesters.ts"

/**
 * Free slot, and the account whose task ran last in the slot's container. `lastHolder` is null if
 * no container runs.
 */
export type FreeSlot = { name: string; lastHolder: string | null }

/**
 * State of a pool that determines which accounts get slots: the pool's slots and allocations, and
 * the accounts that want a slot.
 */
export type PoolState = {
  slotCount: number
  free: FreeSlot[]
  allocations: readonly SlotAllocation[]
  waiting: readonly SlotRequester[]
  now: number
}

/**
 * Time for which an account keeps its running containers although another account with as many
 * slots waits, in milliseconds. A slot that changes accounts costs the start of a container.
 */
const WARM_TURN_MS = 60_000

/**
 * Decision that an account gets a free slot. `lastHolder` is the account whose container still runs
 * in the slot.
 */
export type SlotGrant = { slot: string; accountId: string; lastHolder: string | null }

/**
 * Decides which accounts get free slots now. Returns the decisions in order. The allocations are
 * numbered in this order, beginning with `turn`.
 */
export function decideSlotGrants(state: PoolState, turn: number): SlotGrant[] {
  const room = openRoom(state)
  const shares: SlotGrant[] = []
  for (let next = findShare(room, state); next; next = findShare(room, state)) {
    take(room, next, { turn: turn + shares.length, now: state.now })
    shares.push(next)
  }
  return shares
}

/**
 * Allocation whose run is to be interrupted for another account, and the time at which the
 * interruption is due.
 */
export type SlotHandOver = { allocation: SlotAllocation; at: number }

/**
 * Returns the allocation whose run is to be interrupted, and the time, if one account holds every
 * slot and another account waits. The time is `waitMsMax` after the first wait began. The
 * allocation is the youngest not in `kept`. Returns null if no other account waits. Also returns
 * null for a pool of one slot, where every long run would otherwise be interrupted.
 */
export function findSlotHandOver(
  { slotCount, free, allocations, waiting }: PoolState,
  { waitMsMax, kept }: { waitMsMax: number; kept: ReadonlySet<number> },
): SlotHandOver | null {
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

/**
 * State while slots are distributed: the remaining free slots, and the number of slots that each
 * account holds and wants.
 */
type Room = {
  free: FreeSlot[]
  held: Map<string, number>
  /** Accounts that wait for a slot. */
  waiting: Map<string, SlotRequester>
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

function findShare(room: Room, { slotCount, now }: PoolState): SlotGrant | null {
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
  { slot, accountId }: SlotGrant,
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

/**
 * Returns the account that may get another slot and has the fewest slots. Among equals, the account
 * whose last allocation is the oldest comes first.
 */
function findNeediest(room: Room, slotCount: number): SlotRequester | null {
  let neediest: SlotRequester | null = null
  for (const each of room.waiting.values()) {
    if (!isEligible(room, each, slotCount)) continue
    if (!neediest || compareNeed(room, each, neediest) < 0) neediest = each
  }
  return neediest
}

function compareNeed(room: Room, one: SlotRequester, other: SlotRequester): number {
  return (
    heldBy(room, one) - heldBy(room, other) ||
    one.turn - other.turn ||
    one.waitingSince - other.waitingSince
  )
}

/**
 * Reports whether an account may hold another slot. While other accounts wait, an account may hold
 * its share of the slots, and at least one.
 */
function isEligible(room: Room, requester: SlotRequester, slotCount: number): boolean {
  if (room.waiting.size === 1) return true
  const slotsMax = Math.max(1, Math.floor(slotCount * requester.slotsShareMax))
  return heldBy(room, requester) < slotsMax
}

function heldBy({ held }: Room, { accountId }: SlotRequester): number {
  return held.get(accountId) ?? 0
}

/**
 * Returns the slot that costs least for an account. A slot with a container of the account is best,
 * then a slot without a container. A container of an account that waits for no slot comes next, and
 * a container of a waiting account comes last.
 */
function findCheapest({ free, waiting }: Room, { accountId }: SlotRequester): FreeSlot | null {
  function costOf({ lastHolder }: FreeSlot): number {
    if (lastHolder === accountId) return 0
    if (lastHolder === null) return 1
    return waiting.has(lastHolder) ? 3 : 2
  }
  const [first = null, ...others] = free
  return others.reduce((best, slot) => (best && costOf(slot) < costOf(best) ? slot : best), first)
}
