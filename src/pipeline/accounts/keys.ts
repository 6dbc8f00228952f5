import { hashKey, makeKey, prefixOf } from "../../crypto/api-key.ts"
import type { Env } from "../../env.ts"
import { newId } from "../../ids.ts"
import type { Plan } from "../../plans.ts"
import { directoryOf } from "../../storage/database.ts"
import { createKey, revokeKey } from "../../storage/keys.ts"
import type { Account, Key } from "../../storage/schema/accounts.ts"
import { makeWebhookSecret } from "../webhooks/signing.ts"
import { announcePlan } from "./plan.ts"

/** Makes a key and, where its name is new, its account; the key itself is returned only here. */
export async function issueKey(
  env: Env,
  { accountName, plan }: { accountName: string; plan: Plan | undefined },
): Promise<{ key: string; row: Key; account: Account }> {
  const key = makeKey()
  const newAccountId = newId()
  const row = {
    id: newId(),
    accountId: newAccountId,
    hash: await hashKey(key),
    prefix: prefixOf(key),
    createdAt: Date.now(),
    revokedAt: null,
  }
  const account = await createKey(directoryOf(env), {
    key: row,
    accountName,
    newAccountId,
    webhookSecret: makeWebhookSecret(),
    ...(plan && { plan }),
  })
  if (plan && account.id !== newAccountId) await announcePlan(env, account.id)
  return { key, row, account }
}

/** Revokes a key, which its rate limiter forgets at once; false where there is no such key. */
export async function withdrawKey(env: Env, id: string): Promise<boolean> {
  const hash = await revokeKey(directoryOf(env), id, Date.now())
  if (hash === null) return false
  await env.RATE_LIMITER.getByName(hash).forget()
  return true
}
