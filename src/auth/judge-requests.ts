import { createAuthMiddleware, getSessionFromCtx } from "better-auth/api"
import { z } from "zod"
import type { Env } from "../env.ts"
import { findHolder } from "../storage/accounts.ts"
import { directoryOf } from "../storage/database.ts"
import { refusal } from "./refusal.ts"
import { judgeBody } from "./bodies.ts"

/**
 * Judges requests before their routes: bounds bodies, keeps suspended accounts as they are, and lets no
 * other service replace a session.
 */
export function judgeRequests(env: Env, origin: string) {
  return createAuthMiddleware(async (c) => {
    // Calls in process have no request, and no limits.
    if (!c.request) return
    judgeBody(c.path, c.body)
    if (c.path === "/callback/:id" && (await getSessionFromCtx(c))) throw c.redirect(origin)
    if (!CHANGES_OF_ACCOUNT.has(c.path)) return
    const { data } = owner.safeParse((await getSessionFromCtx(c))?.user)
    const account = data && (await findHolder(directoryOf(env), data.accountId))
    if (account?.isSuspended) throw refusal("FORBIDDEN", "ACCOUNT_SUSPENDED", SUSPENDED)
  })
}

/** Routes that delete the account, or rename it: an account is named by the email of its user. */
const CHANGES_OF_ACCOUNT = new Set(["/change-email", "/confirm-email-change", "/delete-user"])
const SUSPENDED = "The account is suspended, and stays as it is; ask the operator of this service."

const owner = z.object({ accountId: z.string() })
