import { and, count, desc, eq, getTableColumns, gt, isNull, ne, or, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "../database.ts"
import type { AccountDatabases } from "../database.ts"
import { pageBoundsCondition } from "../paging.ts"
import type { ListPageQuery } from "../paging.ts"
import { apiKeys } from "../schema/accounts.ts"
import type { ApiKey } from "../schema/accounts.ts"

/** Maximum number of valid keys of an account. */
export const VALID_API_KEYS_MAX = 100

/** Returns a page of an account's keys, newest first, including revoked and expired keys. */
export async function listApiKeysOfAccount(
  { accountId, directory: database }: AccountDatabases,
  page: ListPageQuery,
): Promise<ApiKey[]> {
  return await database
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.accountId, accountId), pageBoundsCondition(apiKeys, page)))
    .orderBy(desc(apiKeys.id))
    .limit(page.limit)
    .offset(page.offset)
}

export async function findApiKeyOfAccount(
  { accountId, directory: database }: AccountDatabases,
  id: string,
): Promise<ApiKey | null> {
  const [key] = await database
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.accountId, accountId), eq(apiKeys.id, id)))
    .limit(1)
  return key ?? null
}

/**
 * Stores a key of an account. Returns false if the account has reached its maximum number of keys.
 */
export async function insertApiKey(database: AccountDatabases, key: ApiKey): Promise<boolean> {
  const rows = await insertWhere(database, key, hasRoom(database, key.createdAt))
  return rows.length > 0
}

/**
 * Stores an API key that replaces a key by rotation. The replaced key expires at `until`, unless
 * its own expiry is earlier. Returns false if the replaced key is invalid or was already replaced,
 * or if the account has its maximum number of keys.
 */
export async function insertReplacementApiKey(
  database: AccountDatabases,
  key: ApiKey,
  before: { id: string; until: number },
): Promise<boolean> {
  const { accountId, directory: open } = database
  const now = key.createdAt
  const isReplaceable = open
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.accountId, accountId),
        eq(apiKeys.id, before.id),
        isNull(apiKeys.replacedBy),
        counts(now),
      ),
    )
  const room = hasRoom(database, now, before.until > now ? "" : before.id)
  const [inserted] = await runBatch(open, [
    insertWhere(database, key, sql`${room} and exists ${isReplaceable}`),
    open
      .update(apiKeys)
      .set({
        replacedBy: key.id,
        expiresAt: sql`min(coalesce(expires_at, ${before.until}), ${before.until})`,
      })
      .where(
        and(
          eq(apiKeys.id, before.id),
          sql`exists ${open.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.id, key.id))}`,
        ),
      ),
  ])
  return Array.isArray(inserted) && inserted.length > 0
}

/**
 * Returns the SQL condition that a key counts towards `VALID_API_KEYS_MAX`: the key is neither
 * revoked nor expired.
 */
function counts(now: number): SQL | undefined {
  return and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)))
}

/**
 * Returns the SQL condition that the account has fewer than `VALID_API_KEYS_MAX` valid keys. The
 * key `goneId`, which is about to be replaced, does not count.
 */
function hasRoom({ accountId, directory: open }: AccountDatabases, now: number, goneId = ""): SQL {
  const counting = open
    .select({ count: count() })
    .from(apiKeys)
    .where(and(eq(apiKeys.accountId, accountId), ne(apiKeys.id, goneId), counts(now)))
  return sql`${counting} < ${VALID_API_KEYS_MAX}`
}

/**
 * Returns the statement that inserts a key if a condition holds. The statement returns the id of
 * the inserted key.
 */
function insertWhere({ directory: open }: AccountDatabases, key: ApiKey, condition: SQL) {
  const row: Record<string, unknown> = { ...key, scopes: JSON.stringify(key.scopes) }
  const values = Object.keys(getTableColumns(apiKeys)).map((name) => sql`${row[name]}`)
  return open
    .insert(apiKeys)
    .select(sql`select ${sql.join(values, sql`, `)} where ${condition}`)
    .returning({ id: apiKeys.id })
}
