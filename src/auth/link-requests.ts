import { createAuthEndpoint } from "better-auth/api"
import { makeLinkToken } from "../crypto/link-token.ts"
import type { Env } from "../env.ts"
import { directoryOf } from "../storage/database.ts"
import { findUserByEmail } from "../storage/users.ts"
import { doLater } from "./later.ts"
import type { Mails } from "./mails.ts"
import { BODIES } from "./bodies.ts"

const RESET_LIFE_MS = 3_600_000

/** Answers a request for a link to set a password before looking up the email. */
export function requestReset(env: Env, mails: Mails) {
  const options = { method: "POST", body: BODIES["/request-password-reset"] } as const
  return createAuthEndpoint("/request-password-reset", options, async (c) => {
    doLater("auth.reset_failed", async () => {
      const user = await findUserByEmail(directoryOf(env), c.body.email.toLowerCase())
      if (!user) return
      await mails.reset(user, await storeReset(c.context.internalAdapter, user.id, RESET_LIFE_MS))
    })
    return c.json({ status: true })
  })
}

/** Answers a request for another link to confirm an email before looking up the email. */
export function requestConfirmation(env: Env, mails: Mails) {
  const options = { method: "POST", body: BODIES["/send-verification-email"] } as const
  return createAuthEndpoint("/send-verification-email", options, async (c) => {
    doLater("auth.confirmation_failed", async () => {
      const user = await findUserByEmail(directoryOf(env), c.body.email.toLowerCase())
      if (user && !user.emailVerified) await mails.confirm(user)
    })
    return c.json({ status: true })
  })
}

/** The part of better-auth's internal adapter that stores links. */
type LinkStore = {
  createVerificationValue(
    link: Record<"identifier" | "value", string> & { expiresAt: Date },
  ): Promise<unknown>
}

/** Stores a link by which the password of a user can be set once; answers its token. */
export async function storeReset(
  store: LinkStore,
  userId: string,
  lifeMs: number,
): Promise<string> {
  const token = makeLinkToken()
  await store.createVerificationValue({
    identifier: `reset-password:${token}`,
    value: userId,
    expiresAt: new Date(Date.now() + lifeMs),
  })
  return token
}
