import { createAuthMiddleware, getSessionFromCtx } from "better-auth/api"
import { z } from "zod"
import type { Env } from "../../bindings/env.ts"
import { findCallerAccount } from "../../db/accounts/accounts.ts"
import { openDirectory } from "../../db/database.ts"
import { authError } from "./auth-errors.ts"
import { checkAuthBody } from "./bodies.ts"

/**
 * Returns better-auth's middleware that runs before every sign-in route. The middleware validates
 * request bodies, refuses changes of suspended accounts, and prevents a sign-in service from
 * replacing a session.
 */
export function makeAuthRequestCheck(env: Env, origin: string) {
  return createAuthMiddleware(async (c) => {
    // Calls within the process have no request and need no checks.
    if (!c.request) return
    checkAuthBody(c.path, c.body)
    if (c.path === "/callback/:id" && (await getSessionFromCtx(c))) throw c.redirect(origin)
    if (!CHANGES_OF_ACCOUNT.has(c.path)) return
    const { data } = owner.safeParse((await getSessionFromCtx(c))?.user)
    const account = data && (await findCallerAccount(openDirectory(env), data.accountId))
    if (account?.isSuspended) throw authError("FORBIDDEN", "ACCOUNT_SUSPENDED", SUSPENDED)
  })
}

/** Routes that delete or rename the account. An account has the email of its user as its name. */
const CHANGES_OF_ACCOUNT = new Set(["/change-email", "/confirm-email-change", "/delete-user"])
const SUSPENDED =
  "The account is suspended and cannot be changed; ask the operator of this service."

const owner = z.object({ accountId: z.string() })
