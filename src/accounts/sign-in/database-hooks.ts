import { APIError } from "better-auth/api"
import type { BetterAuthOptions } from "better-auth/minimal"
import { z } from "zod"
import type { Env } from "../../bindings/env.ts"
import { syncAccountCopy, chooseNewAccountId } from "../../db/accounts/account-copies.ts"
import { openDirectory } from "../../db/database.ts"
import {
  hasUndeletedAccount,
  renameAccountToEmail,
  removeExpiredSessions,
} from "../../db/accounts/users.ts"
import { requireSignUpPermission } from "./admission.ts"

const NAME_LENGTH_MAX = 200
const USER_AGENT_LENGTH_MAX = 300

const owned = z.object({ accountId: z.string(), email: z.string() })

/**
 * Hooks of better-auth that run before or after its writes of users, sessions and credentials, on
 * every route.
 */
export function makeBetterAuthDatabaseHooks(
  env: Env,
): NonNullable<BetterAuthOptions["databaseHooks"]> {
  return {
    user: {
      create: {
        before: async (user) => {
          // This hook runs only for users of sign-in services. src/accounts/sign-in/sign-up.ts
          // stores users with a password.
          const { email, emailVerified: isVerifiedBy } = user
          const admission = await requireSignUpPermission(env, {
            email,
            isVerifiedBy,
            invitation: undefined,
          })
          return {
            data: {
              name: (user.name || email).slice(0, NAME_LENGTH_MAX),
              accountId: await chooseNewAccountId(env),
              emailVerified: admission.isVerified,
              admittedBy: admission.by,
            },
          }
        },
      },
      update: {
        after: async (updated: unknown) => {
          // The user is null if another request has deleted the user.
          const { data: user } = owned.safeParse(updated)
          if (!user) return
          await renameAccountToEmail(openDirectory(env), user)
          await syncAccountCopy(env, user.accountId)
        },
      },
    },
    session: {
      create: {
        before: async ({ userId, userAgent }) => {
          const database = openDirectory(env)
          if (!(await hasUndeletedAccount(database, userId))) {
            throw new APIError("FORBIDDEN", { code: "ACCOUNT_DELETED", message: DELETED })
          }
          await removeExpiredSessions(database, userId, new Date())
          return { data: { userAgent: userAgent?.slice(0, USER_AGENT_LENGTH_MAX) } }
        },
      },
    },
    account: {
      create: {
        // Removes the access tokens of sign-in services, because the services are used only to
        // identify users.
        before: async () => ({ data: { accessToken: null, refreshToken: null, idToken: null } }),
      },
    },
  }
}

const DELETED = "The account is deleted."
