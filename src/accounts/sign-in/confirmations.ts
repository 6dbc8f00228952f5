import { createAuthEndpoint, formCsrfMiddleware, getSessionFromCtx } from "better-auth/api"
import { setSessionCookie } from "better-auth/cookies"
import type { Env } from "../../bindings/env.ts"
import { openDirectory } from "../../db/database.ts"
import { confirmUser } from "../../db/accounts/unconfirmed-users.ts"
import { verifyEmailLinkToken } from "./email-links.ts"
import { checkPasswordLength } from "./passwords.ts"
import { invalidLinkError, authError, otherUserSignedInError } from "./auth-errors.ts"
import { AUTH_BODY_SCHEMAS } from "./bodies.ts"

/**
 * Endpoint that confirms the email of a sign-up, and signs the user in. The request needs the token
 * of the mailed link, and the password of the sign-up or a new password. A new password replaces
 * the old one, because another person may have signed up with the user's email.
 */
export function confirmEmailEndpoint(env: Env) {
  const body = AUTH_BODY_SCHEMAS["/confirm-email"]
  const options = { method: "POST" as const, body, use: [formCsrfMiddleware] }
  return createAuthEndpoint("/confirm-email", options, async (c) => {
    const { body } = c
    const link = await verifyEmailLinkToken(env, body.token)
    if (link?.purpose !== "confirm") throw invalidLinkError()
    const { user } = link
    const present = await getSessionFromCtx(c)
    if (present && present.user.id !== user.id) throw otherUserSignedInError()
    const { internalAdapter, password } = c.context
    if ("newPassword" in body) {
      checkPasswordLength(body.newPassword)
      const hash = await password.hash(body.newPassword)
      if (!(await confirmUser(openDirectory(env), user.id, { hash, isNew: true })))
        throw invalidLinkError()
    } else {
      const hash = (await internalAdapter.findCredentialAccount(user.id))?.password
      const fits = hash && (await password.verify({ hash, password: body.password }))
      if (!fits) throw authError("BAD_REQUEST", "PASSWORD_DIFFERS", DIFFERS)
      if (!(await confirmUser(openDirectory(env), user.id, { hash, isNew: false })))
        throw invalidLinkError()
    }
    const session = await internalAdapter.createSession(user.id)
    await setSessionCookie(c, { session, user: { ...user, emailVerified: true } })
    return c.json({ status: true })
  })
}

const DIFFERS = "The password is not the one of the sign-up."
