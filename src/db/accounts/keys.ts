import { and, desc, eq, gt, isNull, lt, or, sql } from "drizzle-orm"
import { readDatabaseNumber } from "../../platform/ids.ts"
import { DEFAULT_PLAN } from "../../domain/plans.ts"
import type { CallerKey, CallerAccount } from "../../bindings/rpc.ts"
import { CALLER_ACCOUNT_COLUMNS, toCallerAccount } from "./accounts.ts"
import type { AccountDatabases, Database } from "../database.ts"
import { planExistsCondition } from "./plans.ts"
import { accounts, apiKeys, plans } from "../schema/accounts.ts"
import type { Account, ApiKey } from "../schema/accounts.ts"

/**
 * Returns a valid key with its account, by the key's SHA-256. Returns null if no valid key has this
 * hash.
 */
export async function findValidApiKey(
  database: Database,
  hash: string,
  now: number,
): Promise<{ account: CallerAccount; key: CallerKey } | null> {
  const [row] = await database
    .select({
      account: CALLER_ACCOUNT_COLUMNS,
      key: { id: apiKeys.id, scopes: apiKeys.scopes, expiresAt: apiKeys.expiresAt },
    })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .leftJoin(plans, eq(plans.name, accounts.plan))
    .where(
      and(
        eq(apiKeys.hash, hash),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
        isNull(accounts.deletedAt),
      ),
    )
    .limit(1)
  return row ? { account: toCallerAccount(row.account), key: row.key } : null
}

/**
 * New API key, and the name of the account that owns the key. If no account has the name, the
 * account is created.
 */
export type NewApiKeyWithAccount = {
  key: ApiKey
  accountName: string
  newAccountId: string
  webhookSecret: string
  plan?: string
}

/**
 * Stores a key for the account with the given name, and creates the account if it does not exist.
 * If a plan is given, the account gets this plan. Returns the account.
 */
export async function insertApiKeyForNamedAccount(
  database: Database,
  newKey: NewApiKeyWithAccount,
): Promise<Account> {
  const account = {
    id: newKey.newAccountId,
    name: newKey.accountName,
    plan: newKey.plan ?? DEFAULT_PLAN,
    webhookSecret: newKey.webhookSecret,
    createdAt: newKey.key.createdAt,
    database: readDatabaseNumber(newKey.newAccountId),
  }
  const insert = database.insert(accounts).values(account)
  const [row] = await (
    newKey.plan
      ? insert.onConflictDoUpdate({ target: accounts.name, set: { plan: newKey.plan } })
      : insert.onConflictDoUpdate({ target: accounts.name, set: { name: newKey.accountName } })
  ).returning()
  if (!row) throw new Error("the account was neither created nor found")
  await database.insert(apiKeys).values({ ...newKey.key, accountId: row.id })
  return row
}

/**
 * Sets the plan of the account with the given name. Returns null if the account or the plan does
 * not exist.
 */
export async function setPlanByAccountName(
  database: Database,
  accountName: string,
  plan: string,
): Promise<Account | null> {
  const [account] = await database
    .update(accounts)
    .set({ plan })
    .where(
      and(eq(accounts.name, accountName), isNull(accounts.deletedAt), planExistsCondition(plan)),
    )
    .returning()
  return account ?? null
}

/** Returns the hashes of an account's API keys that are not revoked. */
export async function listApiKeyHashes(database: Database, accountId: string): Promise<string[]> {
  const rows = await database
    .select({ hash: apiKeys.hash })
    .from(apiKeys)
    .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.revokedAt)))
  return rows.map(({ hash }) => hash)
}

/** Returns the id of the account that owns a key; null if the key does not exist. */
export async function findAccountIdOfApiKey(
  database: Database,
  id: string,
): Promise<string | null> {
  const [row] = await database
    .select({ accountId: apiKeys.accountId })
    .from(apiKeys)
    .where(eq(apiKeys.id, id))
    .limit(1)
  return row?.accountId ?? null
}

/** Returns keys of all accounts, newest first. With `before`, returns only keys with a lower id. */
export async function listApiKeysOfAllAccounts(
  database: Database,
  { limit, before }: { limit: number; before?: string | undefined },
) {
  const { name, plan } = accounts
  return await database
    .select({ key: apiKeys, account: { name, plan } })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .where(before === undefined ? undefined : lt(apiKeys.id, before))
    .orderBy(desc(apiKeys.id))
    .limit(limit)
}

/**
 * Revokes an API key, and returns the key's hash; null if the key does not exist. A revoked key
 * keeps the time of its first revocation.
 */
export async function markApiKeyRevoked(
  database: Database,
  id: string,
  now: number,
): Promise<string | null> {
  const [existing] = await database
    .select({ hash: apiKeys.hash })
    .from(apiKeys)
    .where(eq(apiKeys.id, id))
    .limit(1)
  if (!existing) return null
  await database
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
  return existing.hash
}

/** Returns the secret that signs the account's webhooks, and the time of its last rotation. */
export async function readWebhookSecret({
  accountId,
  directory: database,
}: AccountDatabases): Promise<Pick<Account, "webhookSecret" | "webhookSecretRotatedAt">> {
  const { webhookSecret, webhookSecretRotatedAt } = accounts
  const [row] = await database
    .select({ webhookSecret, webhookSecretRotatedAt })
    .from(accounts)
    .where(eq(accounts.id, accountId))
  if (!row) throw new Error(`account ${accountId} does not exist`)
  return row
}

/**
 * Replaces the secret that signs the account's webhooks. The previous secret is kept in
 * `webhookSecretBefore`.
 */
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
