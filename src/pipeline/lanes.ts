/** Deliveries at a time of one account in this isolate, to one host and to all. */
const AT_ONCE = { host: 4, account: 32 }

/** Names of lanes and, for each delivery in them, until when it counts. */
const lanes = new Map<string, Set<{ until: number }>>()

/**
 * Takes a place in the lanes of an account and a host; null where either is full. A place counts
 * at most until `until`, since a platform that ends a delivery lets nothing clean up after it.
 */
export function enterLanes(
  place: { accountId: string; host: string },
  now: number,
  until: number,
): (() => void) | null {
  const { accountId, host } = place
  const taken = [
    { name: accountId, max: AT_ONCE.account },
    { name: `${accountId} ${host}`, max: AT_ONCE.host },
  ]
  if (taken.some(({ name, max }) => countIn(name, now) >= max)) return null
  const stay = { until }
  for (const { name } of taken) lanes.set(name, (lanes.get(name) ?? new Set()).add(stay))
  return () => {
    for (const { name } of taken) leave(name, stay)
  }
}

function countIn(name: string, now: number): number {
  for (const stay of lanes.get(name) ?? []) if (stay.until <= now) leave(name, stay)
  return lanes.get(name)?.size ?? 0
}

function leave(name: string, stay: { until: number }): void {
  const lane = lanes.get(name)
  lane?.delete(stay)
  if (lane?.size === 0) lanes.delete(name)
}
