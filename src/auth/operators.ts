import type { Env } from "../env.ts"
import { makeLinkToken } from "../crypto/link-token.ts"
import { newId } from "../ids.ts"
import { makeWebhookSecret } from "../pipeline/webhooks/signing.ts"
import { DEFAULT_PLAN } from "../plans.ts"
import { directoryOf } from "../storage/database.ts"
import type { Database } from "../storage/database.ts"
import type { User } from "../storage/schema/users.ts"
import {
  createUser,
  findUserByEmail,
  makeOperator,
  removeUnverifiedUser,
} from "../storage/users.ts"
import { authOf } from "./auth.ts"

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
  const database = directoryOf(env)
  const user = await findOrCreate(database, email.toLowerCase())
  await makeOperator(database, user.id)
  const token = makeLinkToken()
  const { internalAdapter } = await authOf(env, origin).$context
  await internalAdapter.createVerificationValue({
    identifier: `reset-password:${token}`,
    value: user.id,
    expiresAt: new Date(Date.now() + LINK_LIFE_MS),
  })
  return { user, link: `${origin}/reset-password?token=${token}` }
}

async function findOrCreate(database: Database, email: string): Promise<User> {
  // Whoever signed up with the email and never showed that it is theirs knows its password.
  await removeUnverifiedUser(database, email)
  const known = await findUserByEmail(database, email)
  if (known) return known
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
    webhookSecret: makeWebhookSecret(),
    admittedBy: { plan: DEFAULT_PLAN },
  })
  const winner = made ?? (await findUserByEmail(database, email))
  if (!winner) throw new Error("a user was neither made nor found")
  return winner
}
