import { createAuthEndpoint, getSessionFromCtx, sensitiveSessionMiddleware } from "better-auth/api"
import type { Env } from "../../bindings/env.ts"
import { syncAccountCopy } from "../../db/accounts/account-copies.ts"
import { openDirectory } from "../../db/database.ts"
import {
  removeUnconfirmedUsers,
  confirmUserByMailedLink,
} from "../../db/accounts/unconfirmed-users.ts"
import { findUserByEmail } from "../../db/accounts/users.ts"
import { verifyEmailLinkToken } from "./email-links.ts"
import { runAfterResponse } from "./after-response.ts"
import type { SignInMailers } from "./mails.ts"
import { invalidLinkError, authError, otherUserSignedInError } from "./auth-errors.ts"
import { AUTH_BODY_SCHEMAS } from "./bodies.ts"

/**
 * Endpoint by which a signed-in user requests a new email. The endpoint sends a link to the present
 * email, unless a confirmed user has the new email.
 */
export function emailChangeEndpoint(env: Env, mails: SignInMailers) {
  const body = AUTH_BODY_SCHEMAS["/change-email"]
  const options = { method: "POST" as const, body, use: [sensitiveSessionMiddleware] }
  return createAuthEndpoint("/change-email", options, async (c) => {
    const { user } = c.context.session
    const newEmail = c.body.newEmail.toLowerCase()
    if (newEmail === user.email) throw authError("BAD_REQUEST", "EMAIL_SAME", SAME)
    runAfterResponse("auth.change_failed", async () => {
      const holder = await findUserByEmail(openDirectory(env), newEmail)
      if (!holder?.emailVerified) await mails.agree(user, newEmail)
    })
    return c.json({ status: true })
  })
}

/**
 * Endpoint for the two links of an email change. The link to the present address sends a mail to
 * the new address. The link to the new address completes the change. Both links require that the
 * user is signed in, because the owner of the new mailbox alone must not get an account that
 * another person created.
 */
export function confirmEmailChangeEndpoint(env: Env, mails: SignInMailers) {
  const options = { method: "POST", body: AUTH_BODY_SCHEMAS["/confirm-email-change"] } as const
  return createAuthEndpoint("/confirm-email-change", options, async (c) => {
    const link = await verifyEmailLinkToken(env, c.body.token)
    if (!link || link.purpose === "confirm") throw invalidLinkError()
    const { user, newEmail, purpose } = link
    const present = await getSessionFromCtx(c)
    if (!present) throw authError("UNAUTHORIZED", "SIGN_IN_FIRST", "Sign in first.")
    if (present.user.id !== user.id) throw otherUserSignedInError()
    if (purpose === "agree") {
      runAfterResponse("auth.change_failed", async () => await mails.change(user, newEmail))
      return c.json({ status: true })
    }
    await makeRoom(env, newEmail)
    await c.context.internalAdapter.updateUser(user.id, { email: newEmail })
    await confirmUserByMailedLink(openDirectory(env), user.id)
    return c.json({ status: true })
  })
}

/**
 * Removes an unconfirmed user who has the email. Throws a 403 response if a confirmed user has the
 * email.
 */
async function makeRoom(env: Env, email: string): Promise<void> {
  const holder = await findUserByEmail(openDirectory(env), email)
  if (!holder) return
  if (holder.emailVerified) throw authError("FORBIDDEN", "EMAIL_TAKEN", TAKEN)
  await removeUnconfirmedUsers(openDirectory(env), [holder])
  await syncAccountCopy(env, holder.accountId)
}

const SAME = "Your account already has this email address."
const TAKEN = "Another user has this email address."
