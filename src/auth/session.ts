import type { Env } from "../env.ts"
import { directoryOf } from "../storage/database.ts"
import { findHolder } from "../storage/accounts.ts"
import type { Holder } from "../rpc.ts"
import { authOf } from "./auth.ts"

/** A person who is signed in, and the account that is theirs. */
export type SignedIn = {
  sessionId: string
  user: { id: string; email: string; name: string; isOperator: boolean }
  account: Holder
}

/** Who sends requests with these headers; null for nobody, or whose account is gone. */
export async function findSignedIn(
  env: Env,
  origin: string,
  headers: Headers,
): Promise<SignedIn | null> {
  if (!headers.has("cookie")) return null
  const session = await authOf(env, origin).api.getSession({ headers })
  if (!session) return null
  const { id, email, name, accountId, isOperator } = session.user
  const account = accountId ? await findHolder(directoryOf(env), accountId) : null
  const user = { id, email, name, isOperator: isOperator ?? false }
  return account && { sessionId: session.session.id, user, account }
}
