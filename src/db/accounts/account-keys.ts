import { and, count, desc, eq, getTableColumns, gt, isNull, ne, or, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "../database.ts"
import type { AccountDatabases } from "../database.ts"
import { pageBoundsCondition } from "../paging.ts"
import type { Page } from "../paging.ts"
import { keys } from "../schema/accounts.ts"
import type { Key } from "../schema/accounts.ts"

/** Maximum number of valid keys of an account. */
export const VALID_KEYS_MAX = 100

/** Returns a page of an account's keys, newest first, including revoked and expired keys. */
export async function listAccountKeys(
  { accountId, directory: database }: AccountDatabases,
  page: Page,
): Promise<Key[]> {
  return await database
    .select()
    .from(keys)
    .where(and(eq(keys.accountId, accountId), pageBoundsCondition(keys, page)))
    .orderBy(desc(keys.id))
    .limit(page.limit)
    .offset(page.offset)
}

export async function findAccountKey(
  { accountId, directory: database }: AccountDatabases,
  id: string,
): Promise<Key | null> {
  const [key] = await database
    .select()
    .from(keys)
    .where(and(eq(keys.accountId, accountId), eq(keys.id, id)))
    .limit(1)
  return key ?? null
}

/**
 * Stores a key of an account. Returns false if the account has reached its maximum number of keys.
 */
export async function insertKey(database: AccountDatabases, key: Key): Promise<boolean> {
  const rows = await insertWhere(database, key, hasRoom(database, key.createdAt))
  return rows.length > 0
}

/**
 * Stores a key that replaces another key by rotation. The other key expires at `until` or earlier.
 * Returns false if the other key is invalid or already replaced, or if the account has reached its
 * maximum number of keys.
 */
export async function insertReplacementKey(
  database: AccountDatabases,
  key: Key,
  before: { id: string; until: number },
): Promise<boolean> {
  const { accountId, directory: open } = database
  const now = key.createdAt
  const isReplaceable = open
    .select({ id: keys.id })
    .from(keys)
    .where(
      and(
        eq(keys.accountId, accountId),
        eq(keys.id, before.id),
        isNull(keys.replacedBy),
        counts(now),
      ),
    )
  const room = hasRoom(database, now, before.until > now ? "" : before.id)
  const [inserted] = await runBatch(open, [
    insertWhere(database, key, sql`${room} and exists ${isReplaceable}`),
    open
      .update(keys)
      .set({
        replacedBy: key.id,
        expiresAt: sql`min(coalesce(expires_at, ${before.until}), ${before.until})`,
      })
      .where(
        and(
          eq(keys.id, before.id),
          sql`exists ${open.select({ id: keys.id }).from(keys).where(eq(keys.id, key.id))}`,
        ),
      ),
  ])
  return Array.isArray(inserted) && inserted.length > 0
}

/**
 * Returns the SQL condition that a key counts for the limit: the key is neither revoked nor
 * expired.
 */
function counts(now: number): SQL | undefined {
  return and(isNull(keys.revokedAt), or(isNull(keys.expiresAt), gt(keys.expiresAt, now)))
}

/**
 * Returns the SQL condition that the account may have another key. The key `goneId`, which is about
 * to be replaced, does not count.
 */
function hasRoom({ accountId, directory: open }: AccountDatabases, now: number, goneId = ""): SQL {
  const counting = open
    .select({ count: count() })
    .from(keys)
    .where(and(eq(keys.accountId, accountId), ne(keys.id, goneId), counts(now)))
  return sql`${counting} < ${VALID_KEYS_MAX}`
}

/**
 * Returns the statement that inserts a key if a condition holds. The statement returns the id of
 * the inserted key.
 */
function insertWhere({ directory: open }: AccountDatabases, key: Key, condition: SQL) {
  const row: Record<string, unknown> = { ...key, scopes: JSON.stringify(key.scopes) }
  const values = Object.keys(getTableColumns(keys)).map((name) => sql`${row[name]}`)
  return open
    .insert(keys)
    .select(sql`select ${sql.join(values, sql`, `)} where ${condition}`)
    .returning({ id: keys.id })
}
