import { hashApiKey, generateApiKey, visibleKeyPrefix } from "../platform/crypto/api-key.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { getRateLimiter } from "../bindings/durable-objects.ts"
import { newId } from "../platform/ids.ts"
import type { Scope } from "../domain/scopes.ts"
import { syncAccountCopy, chooseNewAccountId } from "../db/accounts/account-copies.ts"
import {
  findApiKeyOfAccount,
  insertApiKey,
  insertReplacementApiKey,
} from "../db/accounts/account-keys.ts"
import { openDirectory } from "../db/database.ts"
import type { AccountDatabases } from "../db/database.ts"
import { insertApiKeyForNamedAccount, markApiKeyRevoked } from "../db/accounts/keys.ts"
import type { Account, ApiKey } from "../db/schema/accounts.ts"
import { makeWebhookSecret } from "../webhooks/signing.ts"
import { dropPrefetchedRequests } from "./rate-limit/prefetch.ts"
import { refreshCachedPlan } from "./assign-plan.ts"

/** Properties of an API key that a user chooses. */
export type ApiKeySettings = { name: string; scopes: Scope[]; expiresAt: number | null }

/** New API key, and its row in D1, which contains only a hash of the key. */
export type NewApiKeyWithRow = { key: string; row: ApiKey }

/**
 * Creates an API key for the account that has the name `accountName`. Creates this account first if
 * it does not exist. Only the returned value contains the key: D1 stores a hash.
 */
export async function createApiKeyForNamedAccount(
  env: Env,
  {
    accountName,
    plan,
    ...facts
  }: { accountName: string; plan: string | undefined } & ApiKeySettings,
): Promise<NewApiKeyWithRow & { account: Account }> {
  const newAccountId = await chooseNewAccountId(env)
  const newRecord = await newKey(env, newAccountId, facts)
  const account = await insertApiKeyForNamedAccount(openDirectory(env), {
    key: newRecord.row,
    accountName,
    newAccountId,
    webhookSecret: makeWebhookSecret(),
    ...(plan && { plan }),
  })
  if (account.copiedVersion !== account.version) await syncAccountCopy(env, account.id)
  if (plan && account.id !== newAccountId) await refreshCachedPlan(env, account.id)
  return { ...newRecord, account }
}

/**
 * Creates an API key of an existing account. Returns null if the account has its maximum number of
 * keys.
 */
export async function createApiKeyOfAccount(
  env: Env,
  database: AccountDatabases,
  facts: ApiKeySettings,
): Promise<NewApiKeyWithRow | null> {
  const newRecord = await newKey(env, database.accountId, facts)
  return (await insertApiKey(database, newRecord.row)) ? newRecord : null
}

/**
 * Reason why an API key cannot be rotated. `full` means that the account has its maximum number of
 * keys.
 */
export type ApiKeyRotationRefusal = "revoked" | "expired" | "replaced" | "full"

/**
 * Creates an API key with the name, scopes and lifetime of an existing API key. The existing key
 * remains valid for `overlapMs`, unless its own expiry is earlier. Returns null if the account has
 * no such key.
 */
export async function rotateApiKey(
  env: Env,
  database: AccountDatabases,
  { id, overlapMs }: { id: string; overlapMs: number },
): Promise<NewApiKeyWithRow | { refusal: ApiKeyRotationRefusal; before: ApiKey } | null> {
  const before = await findApiKeyOfAccount(database, id)
  if (!before) return null
  const now = Date.now()
  const refusal = judgeRotation(before, now)
  if (refusal) return { refusal, before }
  const { name, scopes, createdAt, expiresAt } = before
  const lifeMs = expiresAt === null ? null : expiresAt - createdAt
  const newRecord = await newKey(
    env,
    database.accountId,
    { name, scopes, expiresAt: lifeMs === null ? null : now + lifeMs },
    now,
  )
  if (!(await insertReplacementApiKey(database, newRecord.row, { id, until: now + overlapMs }))) {
    const current = (await findApiKeyOfAccount(database, id)) ?? before
    return { refusal: judgeRotation(current, now) ?? "full", before: current }
  }
  // Ignores a failed call: both keys are stored already. A rate limiter that cannot be reached
  // accepts the old key until its cached copy of the key expires.
  await forget(env, before.hash).catch(() => undefined)
  return newRecord
}

/**
 * Revokes an API key, and makes the rate limiter of the key refuse it at once. Returns false if the
 * account has no such key.
 */
export async function revokeApiKey(env: Env, id: string): Promise<boolean> {
  const hash = await markApiKeyRevoked(openDirectory(env), id, Date.now())
  if (hash === null) return false
  await forget(env, hash)
  return true
}

function judgeRotation(
  { revokedAt, expiresAt, replacedBy }: ApiKey,
  now: number,
): ApiKeyRotationRefusal | null {
  if (revokedAt !== null) return "revoked"
  if (replacedBy !== null) return "replaced"
  return expiresAt !== null && expiresAt <= now ? "expired" : null
}

async function newKey(
  env: Env,
  accountId: string,
  facts: ApiKeySettings,
  now = Date.now(),
): Promise<NewApiKeyWithRow> {
  const key = await generateApiKey(getSettings(env).LATHE_SECRET)
  const row = {
    id: newId(),
    accountId,
    hash: await hashApiKey(key),
    prefix: visibleKeyPrefix(key),
    ...facts,
    createdAt: now,
    lastUsedAt: null,
    replacedBy: null,
    revokedAt: null,
  }
  return { key, row }
}

async function forget(env: Env, hash: string): Promise<void> {
  dropPrefetchedRequests([hash])
  await getRateLimiter(env, hash).forget()
}
