import type { Env } from "../env.ts"
import { newId } from "../ids.ts"
import { makeWebhookSecret } from "../pipeline/webhooks/signing.ts"
import { DEFAULT_PLAN } from "../plans.ts"
import { copyAccount } from "../storage/account-copies.ts"
import { directoryOf } from "../storage/database.ts"
import type { User } from "../storage/schema/users.ts"
import { createUser, findUserByEmail, makeOperator } from "../storage/users.ts"
import { authOf } from "./auth.ts"
import { storeReset } from "./link-requests.ts"

const LINK_LIFE_MS = 24 * 3_600_000

/**
 * Makes the user of an email an operator, and the user too where there is none. Answers a link by
 * which a password can be set, once and within a day.
 */
export async function appointOperator(
  env: Env,
  origin: string,
  email: string,
): Promise<{ user: User; link: string }> {
  const user = await findOrCreate(env, email.toLowerCase())
  await makeOperator(directoryOf(env), user.id)
  const { internalAdapter } = await authOf(env, origin).$context
  const token = await storeReset(internalAdapter, user.id, LINK_LIFE_MS)
  return { user, link: `${origin}/reset-password?token=${token}` }
}

async function findOrCreate(env: Env, email: string): Promise<User> {
  const database = directoryOf(env)
  const known = await findUserByEmail(database, email)
  if (known?.emailVerified) return known
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
  const made = await createUser(database, {
    user,
    passwordHash: null,
    webhookSecret: makeWebhookSecret(),
    // The person who signed up with the email, and never confirmed it, knows its password.
    replaced: known,
    admittedBy: { plan: DEFAULT_PLAN },
  })
  if (known) await copyAccount(env, known.accountId)
  const winner = made ?? (await findUserByEmail(database, email))
  if (!winner?.emailVerified) throw new Error("a user was neither made nor found")
  return winner
}
