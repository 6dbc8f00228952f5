import type { Env } from "../../bindings/env.ts"
import { newId } from "../../platform/ids.ts"
import { makeWebhookSecret } from "../../webhooks/signing.ts"
import { DEFAULT_PLAN } from "../../domain/plans.ts"
import { syncAccountCopy } from "../../db/accounts/account-copies.ts"
import { openDirectory } from "../../db/database.ts"
import type { User } from "../../db/schema/users.ts"
import { createUser, findUserByEmail, grantOperatorRights } from "../../db/accounts/users.ts"
import { getBetterAuth } from "./auth.ts"
import { storePasswordResetToken } from "./link-requests.ts"

const LINK_LIFE_MS = 24 * 3_600_000

/**
 * Makes the user with an email an operator, and creates the user if there is none. Returns a link
 * that sets the user's password once, within a day.
 */
export async function createOrPromoteOperator(
  env: Env,
  origin: string,
  email: string,
): Promise<{ user: User; link: string }> {
  const user = await findOrCreate(env, email.toLowerCase())
  await grantOperatorRights(openDirectory(env), user.id)
  const { internalAdapter } = await getBetterAuth(env, origin).$context
  const token = await storePasswordResetToken(internalAdapter, user.id, LINK_LIFE_MS)
  return { user, link: `${origin}/reset-password?token=${token}` }
}

async function findOrCreate(env: Env, email: string): Promise<User> {
  const database = openDirectory(env)
  const existing = await findUserByEmail(database, email)
  if (existing?.emailVerified) return existing
  const now = new Date()
  const user = {
    id: newId(),
    accountId: newId(),
    name: email,
    email,
    emailVerified: true,
    image: null,
    isOperator: true,
    createdAt: now,
    updatedAt: now,
  }
  const created = await createUser(database, {
    user,
    passwordHash: null,
    webhookSecret: makeWebhookSecret(),
    // The new operator replaces an unconfirmed user with the same email, because the person who
    // signed up knows that user's password, but may not own the email.
    replaced: existing,
    admittedBy: { plan: DEFAULT_PLAN },
  })
  if (existing) await syncAccountCopy(env, existing.accountId)
  const winner = created ?? (await findUserByEmail(database, email))
  if (!winner?.emailVerified) throw new Error("the user was neither created nor found")
  return winner
}
