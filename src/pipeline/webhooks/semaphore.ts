/** Deliveries at a time of one account in this isolate, to one host and to all. */
const LIMITS = { host: 4, account: 32 }

type Permit = { since: number; until: number }

/** Permits taken, by the semaphore's name. */
const taken = new Map<string, Set<Permit>>()

/**
 * Takes a permit of the semaphores of an account and of a host of it; null where either has none
 * left. A permit expires at `until`, since a platform that ends a delivery runs no clean-up of it.
 * The answer releases it.
 */
export function acquirePermit(
  delivery: { accountId: string; host: string },
  now: number,
  until: number,
): (() => void) | null {
  const { accountId, host } = delivery
  const semaphores = [
    { name: accountId, max: LIMITS.account },
    { name: `${accountId} ${host}`, max: LIMITS.host },
  ]
  if (semaphores.some(({ name, max }) => countTaken(name, now) >= max)) return null
  const permit = { since: now, until }
  for (const { name } of semaphores) taken.set(name, (taken.get(name) ?? new Set()).add(permit))
  return () => {
    for (const { name } of semaphores) release(name, permit)
  }
}

function countTaken(name: string, now: number): number {
  for (const permit of taken.get(name) ?? []) {
    // One that begins later was taken by a clock that was ahead.
    if (permit.until <= now || permit.since > now) release(name, permit)
  }
  return taken.get(name)?.size ?? 0
}

function release(name: string, permit: Permit): void {
  const permits = taken.get(name)
  permits?.delete(permit)
  if (permits?.size === 0) taken.delete(name)
}
