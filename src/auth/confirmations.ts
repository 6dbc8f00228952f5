import { createAuthEndpoint, formCsrfMiddleware, getSessionFromCtx } from "better-auth/api"
import { setSessionCookie } from "better-auth/cookies"
import type { Env } from "../env.ts"
import { directoryOf } from "../storage/database.ts"
import { confirmUser } from "../storage/unconfirmed-users.ts"
import { readEmailLink } from "./email-links.ts"
import { judgeNewPassword } from "./passwords.ts"
import { linkVoid, refusal, signedInAsAnother } from "./refusal.ts"
import { BODIES } from "./bodies.ts"

/**
 * Confirms the email of a sign-up by the token of its mail and the password, and signs in. The holder
 * of the token reads the mails of the address, and may set a new password instead: another person may
 * have chosen the password of the sign-up, which then becomes void.
 */
export function confirmEmail(env: Env) {
  const body = BODIES["/confirm-email"]
  const options = { method: "POST" as const, body, use: [formCsrfMiddleware] }
  return createAuthEndpoint("/confirm-email", options, async (c) => {
    const { body } = c
    const link = await readEmailLink(env, body.token)
    if (link?.purpose !== "confirm") throw linkVoid()
    const { user } = link
    const present = await getSessionFromCtx(c)
    if (present && present.user.id !== user.id) throw signedInAsAnother()
    const { internalAdapter, password } = c.context
    if ("newPassword" in body) {
      judgeNewPassword(body.newPassword)
      const hash = await password.hash(body.newPassword)
      if (!(await confirmUser(directoryOf(env), user.id, { hash, isNew: true }))) throw linkVoid()
    } else {
      const hash = (await internalAdapter.findCredentialAccount(user.id))?.password
      const fits = hash && (await password.verify({ hash, password: body.password }))
      if (!fits) throw refusal("BAD_REQUEST", "PASSWORD_DIFFERS", DIFFERS)
      if (!(await confirmUser(directoryOf(env), user.id, { hash, isNew: false }))) throw linkVoid()
    }
    const session = await internalAdapter.createSession(user.id)
    await setSessionCookie(c, { session, user: { ...user, emailVerified: true } })
    return c.json({ status: true })
  })
}

const DIFFERS = "This is not the password that was chosen at sign-up."
