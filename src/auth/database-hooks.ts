import { APIError } from "better-auth/api"
import type { BetterAuthOptions } from "better-auth/minimal"
import { z } from "zod"
import type { Env } from "../env.ts"
import { copyAccount, placeNewAccount } from "../storage/account-copies.ts"
import { directoryOf } from "../storage/database.ts"
import { hasAccount, nameAccountByEmail, removeExpiredSessions } from "../storage/users.ts"
import { admit } from "./admission.ts"

const NAME_LENGTH_MAX = 200
const USER_AGENT_LENGTH_MAX = 300

const owned = z.object({ accountId: z.string(), email: z.string() })

/** What holds for users, sessions and credentials by whatever way they are made. */
export function databaseHooks(env: Env): NonNullable<BetterAuthOptions["databaseHooks"]> {
  return {
    user: {
      create: {
        before: async (user) => {
          // Runs for users of other services alone; src/auth/sign-up.ts stores users with a password.
          const { email, emailVerified: isVerifiedBy } = user
          const admission = await admit(env, { email, isVerifiedBy, invitation: undefined })
          return {
            data: {
              name: (user.name || email).slice(0, NAME_LENGTH_MAX),
              accountId: await placeNewAccount(env),
              emailVerified: admission.isVerified,
              admittedBy: admission.by,
            },
          }
        },
      },
      update: {
        after: async (updated: unknown) => {
          // None where the user went meanwhile.
          const { data: user } = owned.safeParse(updated)
          if (!user) return
          await nameAccountByEmail(directoryOf(env), user)
          await copyAccount(env, user.accountId)
        },
      },
    },
    session: {
      create: {
        before: async ({ userId, userAgent }) => {
          const database = directoryOf(env)
          if (!(await hasAccount(database, userId))) {
            throw new APIError("FORBIDDEN", { code: "ACCOUNT_DELETED", message: DELETED })
          }
          await removeExpiredSessions(database, userId, new Date())
          return { data: { userAgent: userAgent?.slice(0, USER_AGENT_LENGTH_MAX) } }
        },
      },
    },
    account: {
      create: {
        // Nothing is asked of a provider but who signs in.
        before: async () => ({ data: { accessToken: null, refreshToken: null, idToken: null } }),
      },
    },
  }
}

const DELETED = "This account is deleted."
