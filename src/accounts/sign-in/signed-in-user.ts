import type { Env } from "../../bindings/env.ts"
import { openDirectory } from "../../db/database.ts"
import { findCallerAccount } from "../../db/accounts/accounts.ts"
import type { CallerAccount } from "../../bindings/rpc.ts"
import { getBetterAuth } from "./auth.ts"

/** Signed-in user, with the session and the account of the user. */
export type SignedInUser = {
  sessionId: string
  user: { id: string; email: string; name: string; isOperator: boolean }
  account: CallerAccount
}

/**
 * Returns the signed-in user by the session cookie of a request. Returns null without a valid
 * session, or if the account does not exist.
 */
export async function findSignedInUser(
  env: Env,
  origin: string,
  headers: Headers,
): Promise<SignedInUser | null> {
  if (!headers.has("cookie")) return null
  const session = await getBetterAuth(env, origin).api.getSession({ headers })
  if (!session) return null
  const { id, email, name, accountId, isOperator } = session.user
  const account = accountId ? await findCallerAccount(openDirectory(env), accountId) : null
  const user = { id, email, name, isOperator: isOperator ?? false }
  return account && { sessionId: session.session.id, user, account }
}
