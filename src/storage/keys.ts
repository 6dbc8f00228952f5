import { and, desc, eq, gt, isNull, lt, or, sql } from "drizzle-orm"
import { databaseNumberOf } from "../ids.ts"
import { DEFAULT_PLAN } from "../plans.ts"
import type { HeldKey, Holder } from "../rpc.ts"
import { HOLDER_COLUMNS, holderOf } from "./accounts.ts"
import type { AccountDatabases, Database } from "./database.ts"
import { isPlanThere } from "./plans.ts"
import { accounts, keys, plans } from "./schema/accounts.ts"
import type { Account, Key } from "./schema/accounts.ts"

/** Whose a key is that is neither revoked nor expired, by its SHA-256; null where there is none. */
export async function findKey(
  database: Database,
  hash: string,
  now: number,
): Promise<{ account: Holder; key: HeldKey } | null> {
  const [row] = await database
    .select({
      account: HOLDER_COLUMNS,
      key: { id: keys.id, scopes: keys.scopes, expiresAt: keys.expiresAt },
    })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.accountId))
    .leftJoin(plans, eq(plans.name, accounts.plan))
    .where(
      and(
        eq(keys.hash, hash),
        isNull(keys.revokedAt),
        or(isNull(keys.expiresAt), gt(keys.expiresAt, now)),
        isNull(accounts.deletedAt),
      ),
    )
    .limit(1)
  return row ? { account: holderOf(row.account), key: row.key } : null
}

export type NewKey = {
  key: Key
  accountName: string
  newAccountId: string
  webhookSecret: string
  plan?: string
}

/**
 * Stores a key and, where its name is new, its account. A plan that is given becomes the
 * account's; answers the account as it then is.
 */
export async function createKey(database: Database, made: NewKey): Promise<Account> {
  const account = {
    id: made.newAccountId,
    name: made.accountName,
    plan: made.plan ?? DEFAULT_PLAN,
    webhookSecret: made.webhookSecret,
    createdAt: made.key.createdAt,
    database: databaseNumberOf(made.newAccountId),
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

/** Sets the plan of the account of a name; null where there is no such account, or plan. */
export async function setPlan(
  database: Database,
  accountName: string,
  plan: string,
): Promise<Account | null> {
  const [account] = await database
    .update(accounts)
    .set({ plan })
    .where(and(eq(accounts.name, accountName), isNull(accounts.deletedAt), isPlanThere(plan)))
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

/** Whose a key is, by its id; null where there is none such. */
export async function findKeyOwner(database: Database, id: string): Promise<string | null> {
  const [row] = await database
    .select({ accountId: keys.accountId })
    .from(keys)
    .where(eq(keys.id, id))
    .limit(1)
  return row?.accountId ?? null
}

/** Keys of all accounts, newest first, those before an id where it is given. */
export async function listKeys(
  database: Database,
  { limit, before }: { limit: number; before?: string | undefined },
) {
  const { name, plan } = accounts
  return await database
    .select({ key: keys, account: { name, plan } })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.accountId))
    .where(before === undefined ? undefined : lt(keys.id, before))
    .orderBy(desc(keys.id))
    .limit(limit)
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

/** The secret that signs the account's webhooks now, and when it took the place of another. */
export async function readWebhookSecret({
  accountId,
  directory: database,
}: AccountDatabases): Promise<Pick<Account, "webhookSecret" | "webhookSecretRotatedAt">> {
  const { webhookSecret, webhookSecretRotatedAt } = accounts
  const [row] = await database
    .select({ webhookSecret, webhookSecretRotatedAt })
    .from(accounts)
    .where(eq(accounts.id, accountId))
  if (!row) throw new Error(`there is no account ${accountId}`)
  return row
}

/** Gives the account another webhook secret; the one before is kept beside it. */
export async function rotateWebhookSecret(
  { accountId, directory: database }: AccountDatabases,
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
