import { createAuthEndpoint, formCsrfMiddleware } from "better-auth/api"
import type { Env } from "../env.ts"
import { newId } from "../ids.ts"
import { makeWebhookSecret } from "../pipeline/webhooks/signing.ts"
import { copyAccount, placeNewAccount } from "../storage/account-copies.ts"
import { directoryOf } from "../storage/database.ts"
import type { User } from "../storage/schema/users.ts"
import { createUser, findUserByEmail } from "../storage/users.ts"
import { admit } from "./admission.ts"
import type { Admission } from "./admission.ts"
import { doLater } from "./later.ts"
import type { Mails } from "./mails.ts"
import { judgeNewPassword } from "./passwords.ts"
import { refusal } from "./refusal.ts"
import { BODIES } from "./bodies.ts"

/** Time for which an unconfirmed sign-up blocks others of the same email. */
const KEPT_MS = 24 * 3_600_000

type Applied = { email: string; passwordHash: string; admission: Admission }

/**
 * Signs up by a password. The answer is the same for every email, and precedes the look-up of the email;
 * the user is made, or the owner of the email is told, after the answer.
 */
export function signUpByPassword(env: Env, mails: Mails) {
  const body = BODIES["/sign-up/email"]
  const options = { method: "POST" as const, body, use: [formCsrfMiddleware] }
  return createAuthEndpoint("/sign-up/email", options, async (c) => {
    const { password, invitation } = c.body
    const email = c.body.email.toLowerCase()
    const admission = await admit(env, { email, isVerifiedBy: null, invitation })
    judgeNewPassword(password)
    const applied = { email, passwordHash: await c.context.password.hash(password), admission }
    if (!admission.isVerified) {
      doLater("auth.sign_up_failed", async () => await signUp(env, mails, applied))
    } else if (!(await signUp(env, mails, applied))) {
      throw refusal("FORBIDDEN", "USER_EXISTS", EXISTS)
    }
    return c.json({ status: true })
  })
}

const EXISTS = "Somebody has just signed up with this email. Try again."

/** Makes a user, or tells the user who has the email; answers whether a user was made. */
async function signUp(env: Env, mails: Mails, applied: Applied): Promise<boolean> {
  const { email, passwordHash, admission } = applied
  const known = await findUserByEmail(directoryOf(env), email)
  if (known && !givesWay(known, admission)) {
    await mails.tellOfSignUp(known)
    return false
  }
  const user = await newUser(env, email, admission)
  const made = await createUser(directoryOf(env), {
    user,
    passwordHash,
    webhookSecret: makeWebhookSecret(),
    replaced: known,
    admittedBy: admission.by,
  })
  // A concurrent sign-up made the user, and mails the link.
  if (!made) return false
  if (known) await copyAccount(env, known.accountId)
  await copyAccount(env, user.accountId)
  if (!user.emailVerified) await mails.confirm(user)
  return true
}

/** Whether a new sign-up with the same email replaces a user. */
function givesWay({ emailVerified, createdAt }: User, { isVerified }: Admission): boolean {
  return !emailVerified && (isVerified || Date.now() - createdAt.getTime() > KEPT_MS)
}

async function newUser(env: Env, email: string, { isVerified }: Admission): Promise<User> {
  const now = new Date()
  return {
    id: newId(),
    accountId: await placeNewAccount(env),
    name: email,
    email,
    emailVerified: isVerified,
    image: null,
    isOperator: false,
    createdAt: now,
    updatedAt: now,
  }
}
