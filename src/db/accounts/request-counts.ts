import { and, eq, getTableColumns, isNull, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "../database.ts"
import type { AccountDatabases } from "../database.ts"
import { apiKeys } from "../schema/accounts.ts"
import { usageDays } from "../schema/usage.ts"

/** Requests of an API key or a dashboard user that are counted in memory and not written yet. */
export type UnwrittenRequestCounts = {
  accountId: string
  /** Id of the API key; null for a user of the dashboard. */
  keyId: string | null
  lastUsedAt: number
  /** Number of requests by UTC day (`YYYY-MM-DD`). */
  byDay: ReadonlyMap<string, number>
}

/**
 * Updates the last use of a key, and adds the key's requests to the daily usage. Uses one batch if
 * the directory database also holds the account's rows.
 */
export async function addRequestCountsToUsage(
  { sql: database, directory }: Pick<AccountDatabases, "sql" | "directory">,
  { accountId, keyId, lastUsedAt, byDay }: UnwrittenRequestCounts,
): Promise<void> {
  const added = [...byDay].map(([day, requests]) =>
    database
      .insert(usageDays)
      .select(
        rowOf(accountId, {
          day: sql`${day}`,
          keyId: sql`${keyId ?? ""}`,
          requests: sql`${requests}`,
        }),
      )
      .onConflictDoUpdate({
        target: [usageDays.accountId, usageDays.day, usageDays.keyId],
        set: { requests: sql`requests + excluded.requests` },
      }),
  )
  const keyUses = directory
    .update(apiKeys)
    .set({ lastUsedAt: sql`max(coalesce(last_used_at, 0), ${lastUsedAt})` })
    .where(and(eq(apiKeys.id, keyId ?? ""), isNull(apiKeys.revokedAt)))
  const uses = keyId === null ? [] : [keyUses]
  if (database === directory) return void (await runBatch(database, [...added, ...uses]))
  // If the second batch fails, the caller repeats both batches. The key is updated first, because a
  // repeated update changes nothing, whereas repeated counts would be added twice.
  await runBatch(directory, uses)
  await runBatch(database, added)
}

type Values = Partial<Record<keyof typeof usageDays.$inferInsert, SQL>>

/**
 * Returns SQL that selects a row of `usage_days` with the given values, and with zero in all other
 * columns. The SQL selects no row if the account is deleted.
 */
function rowOf(accountId: string, values: Values): SQL {
  const all: Record<string, SQL> = { ...values, accountId: sql`id` }
  const columns = Object.keys(getTableColumns(usageDays)).map((name) => all[name] ?? sql`0`)
  return sql`select ${sql.join(columns, sql`, `)} from accounts where id = ${accountId} and deleted_at is null`
}
