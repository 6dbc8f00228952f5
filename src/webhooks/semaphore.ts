/** Maximum concurrent deliveries of one account in this isolate, to one host and to all hosts. */
const LIMITS = { host: 4, account: 32 }

type Permit = { until: number }

/** Permits in use, by the name of the semaphore: the account id, or the account id and the host. */
const permitsByKey = new Map<string, Set<Permit>>()

/**
 * Acquires a permit from the semaphore of an account and that of a host. Returns the function that
 * releases the permit, or null if either semaphore has no free permit. A permit expires at `until`,
 * because Cloudflare may end a delivery without running its cleanup.
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
  const permit = { until }
  for (const { name } of semaphores)
    permitsByKey.set(name, (permitsByKey.get(name) ?? new Set()).add(permit))
  return () => {
    for (const { name } of semaphores) release(name, permit)
  }
}

function countTaken(name: string, now: number): number {
  for (const permit of permitsByKey.get(name) ?? []) {
    if (permit.until <= now) release(name, permit)
  }
  return permitsByKey.get(name)?.size ?? 0
}

function release(name: string, permit: Permit): void {
  const permits = permitsByKey.get(name)
  permits?.delete(permit)
  if (permits?.size === 0) permitsByKey.delete(name)
}
