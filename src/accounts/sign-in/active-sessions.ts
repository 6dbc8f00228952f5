import type { Env } from "../../bindings/env.ts"
import { getBetterAuth } from "./auth.ts"

/** Session of a user that has not expired. */
export type ActiveSession = {
  id: string
  token: string
  createdAt: Date
  ipAddress?: string | null | undefined
  userAgent?: string | null | undefined
}

/** Returns the active sessions of a user, newest first, and whether the user has a password. */
export async function readActiveSessions(
  env: Env,
  origin: string,
  userId: string,
): Promise<{ sessions: ActiveSession[]; hasPassword: boolean }> {
  // Lists the sessions by better-auth's internal adapter, because better-auth's route for sessions
  // requires a recent sign-in.
  const { internalAdapter } = await getBetterAuth(env, origin).$context
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
