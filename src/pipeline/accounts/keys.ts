import { hashKey, makeOwnKey, prefixOf } from "../../crypto/api-key.ts"
import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { limiterOf } from "../../placement.ts"
import { newId } from "../../ids.ts"
import type { Scope } from "../../scopes.ts"
import { copyAccount, placeNewAccount } from "../../storage/account-copies.ts"
import { findAccountKey, insertKey, insertReplacement } from "../../storage/account-keys.ts"
import { directoryOf } from "../../storage/database.ts"
import type { AccountDatabases } from "../../storage/database.ts"
import { createKey, revokeKey } from "../../storage/keys.ts"
import type { Account, Key } from "../../storage/schema/accounts.ts"
import { makeWebhookSecret } from "../webhooks/signing.ts"
import { dropHeld } from "./held-requests.ts"
import { announcePlan } from "./plan.ts"

/** What its owner decides of a key. */
export type KeyFacts = { name: string; scopes: Scope[]; expiresAt: number | null }

/** A key that was made, with its row: nobody can read it from there again. */
export type MadeKey = { key: string; row: Key }

/** Makes a key and, where its name is new, its account; the key itself is returned only here. */
export async function issueKey(
  env: Env,
  { accountName, plan, ...facts }: { accountName: string; plan: string | undefined } & KeyFacts,
): Promise<MadeKey & { account: Account }> {
  const newAccountId = await placeNewAccount(env)
  const made = await newKey(env, newAccountId, facts)
  const account = await createKey(directoryOf(env), {
    key: made.row,
    accountName,
    newAccountId,
    webhookSecret: makeWebhookSecret(),
    ...(plan && { plan }),
  })
  if (account.copiedVersion !== account.version) await copyAccount(env, account.id)
  if (plan && account.id !== newAccountId) await announcePlan(env, account.id)
  return { ...made, account }
}

/** Makes a key of an account; null where it has as many as it may. */
export async function addKey(
  env: Env,
  database: AccountDatabases,
  facts: KeyFacts,
): Promise<MadeKey | null> {
  const made = await newKey(env, database.accountId, facts)
  return (await insertKey(database, made.row)) ? made : null
}

/** Why a key cannot be rotated: it counts no more, another is in its place, or there is no room. */
export type RotationRefusal = "revoked" | "expired" | "replaced" | "full"

/**
 * Makes a key with the name, the scopes and the life of another one, which counts for the overlap
 * from now on and no longer than it did before; null where the account has no such key.
 */
export async function rotateKey(
  env: Env,
  database: AccountDatabases,
  { id, overlapMs }: { id: string; overlapMs: number },
): Promise<MadeKey | { refusal: RotationRefusal; before: Key } | null> {
  const before = await findAccountKey(database, id)
  if (!before) return null
  const now = Date.now()
  const refusal = judgeRotation(before, now)
  if (refusal) return { refusal, before }
  const { name, scopes, createdAt, expiresAt } = before
  const lifeMs = expiresAt === null ? null : expiresAt - createdAt
  const made = await newKey(
    env,
    database.accountId,
    { name, scopes, expiresAt: lifeMs === null ? null : now + lifeMs },
    now,
  )
  if (!(await insertReplacement(database, made.row, { id, until: now + overlapMs }))) {
    const current = (await findAccountKey(database, id)) ?? before
    return { refusal: judgeRotation(current, now) ?? "full", before: current }
  }
  // The new key is told only now: a limiter that cannot be reached knows the old one for a moment.
  await forget(env, before.hash).catch(() => undefined)
  return made
}

/** Revokes a key, which its rate limiter forgets at once; false where there is no such key. */
export async function withdrawKey(env: Env, id: string): Promise<boolean> {
  const hash = await revokeKey(directoryOf(env), id, Date.now())
  if (hash === null) return false
  await forget(env, hash)
  return true
}

function judgeRotation(
  { revokedAt, expiresAt, replacedBy }: Key,
  now: number,
): RotationRefusal | null {
  if (revokedAt !== null) return "revoked"
  if (replacedBy !== null) return "replaced"
  return expiresAt !== null && expiresAt <= now ? "expired" : null
}

async function newKey(
  env: Env,
  accountId: string,
  facts: KeyFacts,
  now = Date.now(),
): Promise<MadeKey> {
  const key = await makeOwnKey(settingsOf(env).LATHE_SECRET)
  const row = {
    id: newId(),
    accountId,
    hash: await hashKey(key),
    prefix: prefixOf(key),
    ...facts,
    createdAt: now,
    lastUsedAt: null,
    replacedBy: null,
    revokedAt: null,
  }
  return { key, row }
}

async function forget(env: Env, hash: string): Promise<void> {
  dropHeld([hash])
  await limiterOf(env, hash).forget()
}
