import { and, desc, eq, isNull, sql } from "drizzle-orm"
import type { Plan } from "../plans.ts"
import type { KeyHolder } from "../rpc.ts"
import type { AccountDatabase, Database } from "./database.ts"
import { accounts, keys } from "./schema/accounts.ts"
import type { Account, Key } from "./schema/accounts.ts"

/** The account of a key that is not revoked, by the SHA-256 of the key; null where there is none. */
export async function findKey(database: Database, hash: string): Promise<KeyHolder | null> {
  const [row] = await database
    .select({ id: accounts.id, plan: accounts.plan })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.accountId))
    .where(and(eq(keys.hash, hash), isNull(keys.revokedAt)))
    .limit(1)
  return row ?? null
}

export type NewKey = {
  key: Key
  accountName: string
  newAccountId: string
  webhookSecret: string
  plan?: Plan
}

/**
 * Stores a key and, where its name is new, its account. A plan that is given becomes the
 * account's; answers the account as it then is.
 */
export async function createKey(database: Database, made: NewKey): Promise<Account> {
  const account = {
    id: made.newAccountId,
    name: made.accountName,
    plan: made.plan ?? ("trial" as const),
    webhookSecret: made.webhookSecret,
    createdAt: made.key.createdAt,
  }
  const insert = database.insert(accounts).values(account)
  const [stored] = await (
    made.plan
      ? insert.onConflictDoUpdate({ target: accounts.name, set: { plan: made.plan } })
      : insert.onConflictDoUpdate({ target: accounts.name, set: { name: made.accountName } })
  ).returning()
  if (!stored) throw new Error("an account was neither made nor found")
  await database.insert(keys).values({ ...made.key, accountId: stored.id })
  return stored
}

/** Sets the plan of the account of a name; null where there is none. */
export async function setPlan(
  database: Database,
  accountName: string,
  plan: Plan,
): Promise<Account | null> {
  const [account] = await database
    .update(accounts)
    .set({ plan })
    .where(eq(accounts.name, accountName))
    .returning()
  return account ?? null
}

/** The hashes of the keys of an account that are not revoked. */
export async function listKeyHashes(database: Database, accountId: string): Promise<string[]> {
  const rows = await database
    .select({ hash: keys.hash })
    .from(keys)
    .where(and(eq(keys.accountId, accountId), isNull(keys.revokedAt)))
  return rows.map(({ hash }) => hash)
}

export async function listKeys(database: Database) {
  return await database
    .select({ key: keys, account: accounts })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.accountId))
    .orderBy(desc(keys.id))
}

/** Revokes a key; answers its hash, null where there is no such key. One already revoked stays so. */
export async function revokeKey(
  database: Database,
  id: string,
  now: number,
): Promise<string | null> {
  const [known] = await database
    .select({ hash: keys.hash })
    .from(keys)
    .where(eq(keys.id, id))
    .limit(1)
  if (!known) return null
  await database
    .update(keys)
    .set({ revokedAt: now })
    .where(and(eq(keys.id, id), isNull(keys.revokedAt)))
  return known.hash
}

/** The secret that signs the account's webhooks now. */
export async function readWebhookSecret({
  accountId,
  sql: database,
}: AccountDatabase): Promise<string> {
  const [row] = await database
    .select({ secret: accounts.webhookSecret })
    .from(accounts)
    .where(eq(accounts.id, accountId))
  if (!row) throw new Error(`there is no account ${accountId}`)
  return row.secret
}

/** Gives the account another webhook secret; the one before is kept beside it. */
export async function rotateWebhookSecret(
  { accountId, sql: database }: AccountDatabase,
  webhookSecret: string,
  now: number,
): Promise<void> {
  await database
    .update(accounts)
    .set({
      webhookSecretBefore: sql`webhook_secret`,
      webhookSecret,
      webhookSecretRotatedAt: now,
    })
    .where(eq(accounts.id, accountId))
}
