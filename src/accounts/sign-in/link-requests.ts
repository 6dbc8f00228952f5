import { createAuthEndpoint } from "better-auth/api"
import { makeMailLinkToken } from "../../platform/crypto/mail-link-token.ts"
import type { Env } from "../../bindings/env.ts"
import { openDirectory } from "../../db/database.ts"
import { findUserByEmail } from "../../db/accounts/users.ts"
import { runAfterResponse } from "./after-response.ts"
import type { SignInMailers } from "./mails.ts"
import { AUTH_BODY_SCHEMAS } from "./bodies.ts"

const RESET_LIFE_MS = 3_600_000

/**
 * Endpoint that mails a link to reset a password. The endpoint responds before it searches for the
 * user, so that the response does not reveal whether a user has the email.
 */
export function passwordResetEndpoint(env: Env, mails: SignInMailers) {
  const options = { method: "POST", body: AUTH_BODY_SCHEMAS["/request-password-reset"] } as const
  return createAuthEndpoint("/request-password-reset", options, async (c) => {
    runAfterResponse("auth.reset_failed", async () => {
      const user = await findUserByEmail(openDirectory(env), c.body.email.toLowerCase())
      if (!user) return
      await mails.reset(
        user,
        await storePasswordResetToken(c.context.internalAdapter, user.id, RESET_LIFE_MS),
      )
    })
    return c.json({ status: true })
  })
}

/**
 * Endpoint that mails another link to confirm an email. The endpoint responds before it searches
 * for the user, so that the response does not reveal whether a user has the email.
 */
export function confirmationLinkEndpoint(env: Env, mails: SignInMailers) {
  const options = { method: "POST", body: AUTH_BODY_SCHEMAS["/send-verification-email"] } as const
  return createAuthEndpoint("/send-verification-email", options, async (c) => {
    runAfterResponse("auth.confirmation_failed", async () => {
      const user = await findUserByEmail(openDirectory(env), c.body.email.toLowerCase())
      if (user && !user.emailVerified) await mails.confirm(user)
    })
    return c.json({ status: true })
  })
}

/** Method of better-auth's internal adapter that stores the token of a mailed link. */
type LinkStore = {
  createVerificationValue(
    link: Record<"identifier" | "value", string> & { expiresAt: Date },
  ): Promise<unknown>
}

/** Stores a token that lets a user set a new password once. Returns the token. */
export async function storePasswordResetToken(
  store: LinkStore,
  userId: string,
  lifeMs: number,
): Promise<string> {
  const token = makeMailLinkToken()
  await store.createVerificationValue({
    identifier: `reset-password:${token}`,
    value: userId,
    expiresAt: new Date(Date.now() + lifeMs),
  })
  return token
}
