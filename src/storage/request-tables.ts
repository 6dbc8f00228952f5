/** The last request to a pool; `isOpen` where the pool may still allocate for it. */
type LastRequest = { number: number; isOpen: boolean }

/**
 * Tables of a dispatcher: what it requested of pools, and the allocations that it used. What memory alone
 * knows may be lost: then a request is made again, and what was freed is released again.
 */
export function openRequestTables(sql: SqlStorage) {
  sql.exec(`create table if not exists used_allocations (
    pool text not null, allocation integer not null, primary key (pool, allocation))`)
  sql.exec(`create table if not exists pool_requests (
    pool text primary key, number integer not null, is_open integer not null)`)
  const held = new Map<string, LastRequest>()
  const { removeFreed, ...used } = usedTable(sql)
  return {
    ...used,
    /** Pools that may have to be asked: for ready tasks, for used slots, or since they may still allocate. */
    pools(): string[] {
      const rows = sql.exec<{ pool: string }>(
        `with recursive ready (pool) as (
           select min(pool) from queued_tasks where state = 'ready' union all
           select (select min(pool) from queued_tasks where state = 'ready' and pool > ready.pool)
           from ready where ready.pool is not null)
         select pool from ready where pool is not null union
         select pool from used_allocations union
         select pool from pool_requests where is_open = 1`,
      )
      const saved = rows.toArray().map(({ pool }) => pool)
      const open = [...held].flatMap(([pool, { isOpen }]) => (isOpen ? [pool] : []))
      return [...new Set([...saved, ...open])]
    },
    lastRequest(pool: string): LastRequest | null {
      const known = held.get(pool)
      if (known) return known
      const [row] = sql
        .exec<{ number: number; isOpen: number }>(
          "select number, is_open as isOpen from pool_requests where pool = ?",
          pool,
        )
        .toArray()
      return row ? { number: row.number, isOpen: row.isOpen === 1 } : null
    },
    saveRequest(pool: string, request: LastRequest): void {
      held.delete(pool)
      removeFreed()
      saveRequest(sql, pool, request)
    },
    /** Keeps in memory alone what a request came to, or one that only releases. */
    holdRequest: (pool: string, request: LastRequest) => void held.set(pool, request),
    /** Writes what memory alone knows. */
    flush(): void {
      removeFreed()
      for (const [pool, request] of held) saveRequest(sql, pool, request)
      held.clear()
    },
  }
}

function saveRequest(sql: SqlStorage, pool: string, { number, isOpen }: LastRequest): void {
  sql.exec(
    "insert or replace into pool_requests (pool, number, is_open) values (?, ?, ?)",
    pool,
    number,
    isOpen ? 1 : 0,
  )
}

function usedTable(sql: SqlStorage) {
  const freed = new Map<string, Set<number>>()
  function usedAllocations(pool: string): number[] {
    return sql
      .exec<{ id: number }>("select allocation as id from used_allocations where pool = ?", pool)
      .toArray()
      .flatMap(({ id }) => (freed.get(pool)?.has(id) ? [] : [id]))
  }
  return {
    /** Allocations that had their task; none is used for a second one. */
    usedAllocations,
    hasUsedAllocations: () =>
      sql.exec("select 1 from used_allocations limit 1").toArray().length > 0,
    markUsed(pool: string, allocation: number): void {
      freed.get(pool)?.delete(allocation)
      sql.exec(
        "insert or ignore into used_allocations (pool, allocation) values (?, ?)",
        pool,
        allocation,
      )
    },
    /** Forgets used allocations that the pool has freed; `known` are those that it still knows. */
    keepUsed(pool: string, known: number[]): void {
      const gone = usedAllocations(pool).filter((id) => !known.includes(id))
      if (gone.length > 0) freed.set(pool, new Set([...(freed.get(pool) ?? []), ...gone]))
    },
    removeFreed: (): void => {
      for (const [pool, allocations] of freed) {
        sql.exec(
          `delete from used_allocations
           where pool = ? and allocation in (select value from json_each(?))`,
          pool,
          JSON.stringify([...allocations]),
        )
      }
      freed.clear()
    },
  }
}
