/**
 * The last request to a pool; `isOpen` where the pool may still allocate for it, `isKnown` where the pool
 * has answered one since this object came up.
 */
type LastRequest = { number: number; isOpen: boolean; isKnown: boolean }

/**
 * What a dispatcher requested of pools, and the allocations that it used: in memory alone. Where that is
 * lost, requests say so until one is answered, which takes back all that no task has, and tasks tell
 * which allocations they have.
 */
export function openRequestTables(sql: SqlStorage) {
  const last = new Map<string, LastRequest>()
  const used = new Map<string, Set<number>>()
  function usedOf(pool: string): Set<number> {
    const known = used.get(pool) ?? new Set<number>()
    used.set(pool, known)
    return known
  }
  const rows = sql.exec<{ pool: string; allocation: number }>(
    `select pool, allocation from queued_tasks
     where state in ('starting', 'posting', 'running') and allocation is not null`,
  )
  for (const { pool, allocation } of rows) usedOf(pool).add(allocation)
  return {
    /** Pools that may have to be asked: for ready tasks, for used slots, or since they may still allocate. */
    pools(): string[] {
      const ready = sql.exec<{ pool: string }>(
        `with recursive ready (pool) as (
           select min(pool) from queued_tasks where state = 'ready' union all
           select (select min(pool) from queued_tasks where state = 'ready' and pool > ready.pool)
           from ready where ready.pool is not null)
         select pool from ready where pool is not null`,
      )
      const open = [...last].flatMap(([pool, { isOpen }]) => (isOpen ? [pool] : []))
      const using = [...used].flatMap(([pool, { size }]) => (size > 0 ? [pool] : []))
      return [...new Set([...ready.toArray().map(({ pool }) => pool), ...using, ...open])]
    },
    /** Null where the pool was not asked since this object came up. */
    lastRequest: (pool: string): LastRequest | null => last.get(pool) ?? null,
    saveRequest: (pool: string, request: LastRequest) => void last.set(pool, request),
    /** Allocations that had their task; none is used for a second one. */
    usedAllocations: (pool: string): number[] => [...(used.get(pool) ?? [])],
    hasUsedAllocations: () => [...used.values()].some(({ size }) => size > 0),
    markUsed: (pool: string, allocation: number) => void usedOf(pool).add(allocation),
    /** Forgets used allocations that the pool has freed; `known` are those that it still knows. */
    keepUsed(pool: string, known: number[]): void {
      used.set(pool, usedOf(pool).intersection(new Set(known)))
    },
  }
}
