import type { Env } from "../env.ts"
import { authOf } from "./auth.ts"

/** A place where a user is signed in. */
export type OpenSession = {
  id: string
  token: string
  createdAt: Date
  ipAddress?: string | null | undefined
  userAgent?: string | null | undefined
}

/** The sessions of a user that count, the newest first, and whether the user has a password. */
export async function readSignIns(
  env: Env,
  origin: string,
  userId: string,
): Promise<{ sessions: OpenSession[]; hasPassword: boolean }> {
  // Not by its routes: that of sessions wants one that has just begun.
  const { internalAdapter } = await authOf(env, origin).$context
  const [sessions, credentials] = await Promise.all([
    internalAdapter.listSessions(userId, { onlyActiveSessions: true }),
    internalAdapter.findAccounts(userId),
  ])
  return {
    sessions: sessions.toSorted(
      (one, other) => other.createdAt.getTime() - one.createdAt.getTime(),
    ),
    hasPassword: credentials.some(({ password }) => typeof password === "string"),
  }
}
