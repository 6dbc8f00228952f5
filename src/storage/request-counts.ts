import { and, eq, getTableColumns, isNull, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "./database.ts"
import type { AccountDatabases } from "./database.ts"
import { keys } from "./schema/accounts.ts"
import { usageDays } from "./schema/usage.ts"

/** Requests of one key, or of one user, that are not in the tables yet. */
export type RequestCounts = {
  accountId: string
  /** Null for a user of the dashboard. */
  keyId: string | null
  lastUsedAt: number
  /** By day, `YYYY-MM-DD` in UTC. */
  byDay: ReadonlyMap<string, number>
}

/** Moves the key's last use on and adds requests to those of their days, together where they lie together. */
export async function countRequests(
  { sql: database, directory }: Pick<AccountDatabases, "sql" | "directory">,
  { accountId, keyId, lastUsedAt, byDay }: RequestCounts,
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
  const used = directory
    .update(keys)
    .set({ lastUsedAt: sql`max(coalesce(last_used_at, 0), ${lastUsedAt})` })
    .where(and(eq(keys.id, keyId ?? ""), isNull(keys.revokedAt)))
  const uses = keyId === null ? [] : [used]
  if (database === directory) return void (await runBatch(database, [...added, ...uses]))
  // What can be done twice comes first.
  await runBatch(directory, uses)
  await runBatch(database, added)
}

type Values = Partial<Record<keyof typeof usageDays.$inferInsert, SQL>>

/** A row of these values, all else in it 0; none of an account that is gone meanwhile. */
function rowOf(accountId: string, values: Values): SQL {
  const all: Record<string, SQL> = { ...values, accountId: sql`id` }
  const columns = Object.keys(getTableColumns(usageDays)).map((name) => all[name] ?? sql`0`)
  return sql`select ${sql.join(columns, sql`, `)} from accounts where id = ${accountId} and deleted_at is null`
}
