import { createAuthEndpoint, getSessionFromCtx, sensitiveSessionMiddleware } from "better-auth/api"
import type { Env } from "../env.ts"
import { copyAccount } from "../storage/account-copies.ts"
import { directoryOf } from "../storage/database.ts"
import { removeUnconfirmed, settleMailedLinks } from "../storage/unconfirmed-users.ts"
import { findUserByEmail } from "../storage/users.ts"
import { readEmailLink } from "./email-links.ts"
import { doLater } from "./later.ts"
import type { Mails } from "./mails.ts"
import { linkVoid, refusal, signedInAsAnother } from "./refusal.ts"
import { BODIES } from "./bodies.ts"

/** Requests another email: sends a mail to the present email, unless a user has the other one. */
export function requestEmailChange(env: Env, mails: Mails) {
  const body = BODIES["/change-email"]
  const options = { method: "POST" as const, body, use: [sensitiveSessionMiddleware] }
  return createAuthEndpoint("/change-email", options, async (c) => {
    const { user } = c.context.session
    const newEmail = c.body.newEmail.toLowerCase()
    if (newEmail === user.email) throw refusal("BAD_REQUEST", "EMAIL_SAME", SAME)
    doLater("auth.change_failed", async () => {
      const known = await findUserByEmail(directoryOf(env), newEmail)
      if (!known?.emailVerified) await mails.agree(user, newEmail)
    })
    return c.json({ status: true })
  })
}

/**
 * Takes one of the two steps of a change of email, by the token of its mail: agreement at the present
 * address, which sends a mail to the new address, and confirmation there. Both need the session of the
 * user: a reader of the new mailbox alone must not take over an account that another person prepared.
 */
export function confirmEmailChange(env: Env, mails: Mails) {
  const options = { method: "POST", body: BODIES["/confirm-email-change"] } as const
  return createAuthEndpoint("/confirm-email-change", options, async (c) => {
    const link = await readEmailLink(env, c.body.token)
    if (!link || link.purpose === "confirm") throw linkVoid()
    const { user, newEmail, purpose } = link
    const present = await getSessionFromCtx(c)
    if (!present) throw refusal("UNAUTHORIZED", "SIGN_IN_FIRST", "Sign in first.")
    if (present.user.id !== user.id) throw signedInAsAnother()
    if (purpose === "agree") {
      doLater("auth.change_failed", async () => await mails.change(user, newEmail))
      return c.json({ status: true })
    }
    await makeRoom(env, newEmail)
    await c.context.internalAdapter.updateUser(user.id, { email: newEmail })
    await settleMailedLinks(directoryOf(env), user.id)
    return c.json({ status: true })
  })
}

/** Removes an unconfirmed user of an email; throws a 403 where a confirmed user has the email. */
async function makeRoom(env: Env, email: string): Promise<void> {
  const known = await findUserByEmail(directoryOf(env), email)
  if (!known) return
  if (known.emailVerified) throw refusal("FORBIDDEN", "EMAIL_TAKEN", TAKEN)
  await removeUnconfirmed(directoryOf(env), [known])
  await copyAccount(env, known.accountId)
}

const SAME = "This is your email already."
const TAKEN = "There is another user with this email."
