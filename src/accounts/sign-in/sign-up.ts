import { createAuthEndpoint, formCsrfMiddleware } from "better-auth/api"
import type { Env } from "../../bindings/env.ts"
import { newId } from "../../platform/ids.ts"
import { makeWebhookSecret } from "../../webhooks/signing.ts"
import { syncAccountCopy, chooseNewAccountId } from "../../db/accounts/account-copies.ts"
import { openDirectory } from "../../db/database.ts"
import type { User } from "../../db/schema/users.ts"
import { createUser, findUserByEmail } from "../../db/accounts/users.ts"
import { requireSignUpPermission } from "./admission.ts"
import type { SignUpAdmission } from "./admission.ts"
import { runAfterResponse } from "./after-response.ts"
import type { SignInMailers } from "./mails.ts"
import { checkPasswordLength } from "./passwords.ts"
import { authError } from "./auth-errors.ts"
import { AUTH_BODY_SCHEMAS } from "./bodies.ts"

/**
 * Time in milliseconds for which an unconfirmed sign-up is protected: another sign-up with the same
 * email does not replace the first.
 */
const KEPT_MS = 24 * 3_600_000

type Applied = { email: string; passwordHash: string; admission: SignUpAdmission }

/**
 * Endpoint that signs up by email and password. Without an invitation, the response is the same for
 * every email. After the response, the user is created or the present owner of the email is
 * notified.
 */
export function signUpEndpoint(env: Env, mails: SignInMailers) {
  const body = AUTH_BODY_SCHEMAS["/sign-up/email"]
  const options = { method: "POST" as const, body, use: [formCsrfMiddleware] }
  return createAuthEndpoint("/sign-up/email", options, async (c) => {
    const { password, invitation } = c.body
    const email = c.body.email.toLowerCase()
    const admission = await requireSignUpPermission(env, { email, isVerifiedBy: null, invitation })
    checkPasswordLength(password)
    const applied = { email, passwordHash: await c.context.password.hash(password), admission }
    if (!admission.isVerified) {
      runAfterResponse("auth.sign_up_failed", async () => await signUp(env, mails, applied))
    } else if (!(await signUp(env, mails, applied))) {
      throw authError("FORBIDDEN", "USER_EXISTS", EXISTS)
    }
    return c.json({ status: true })
  })
}

const EXISTS = "Somebody has just signed up with this email address. Try again."

/**
 * Creates a user, or notifies the present owner of the email. Returns true if a user was created.
 */
async function signUp(env: Env, mails: SignInMailers, applied: Applied): Promise<boolean> {
  const { email, passwordHash, admission } = applied
  const existing = await findUserByEmail(openDirectory(env), email)
  if (existing && !givesWay(existing, admission)) {
    await mails.notifyOfSignUp(existing)
    return false
  }
  const user = await newUser(env, email, admission)
  const created = await createUser(openDirectory(env), {
    user,
    passwordHash,
    webhookSecret: makeWebhookSecret(),
    replaced: existing,
    admittedBy: admission.by,
  })
  // A concurrent sign-up with the same email has created the user, and mails the link.
  if (!created) return false
  if (existing) await syncAccountCopy(env, existing.accountId)
  await syncAccountCopy(env, user.accountId)
  if (!user.emailVerified) await mails.confirm(user)
  return true
}

/** Reports whether a new sign-up with the same email may replace an existing user. */
function givesWay({ emailVerified, createdAt }: User, { isVerified }: SignUpAdmission): boolean {
  return !emailVerified && (isVerified || Date.now() - createdAt.getTime() > KEPT_MS)
}

async function newUser(env: Env, email: string, { isVerified }: SignUpAdmission): Promise<User> {
  const now = new Date()
  return {
    id: newId(),
    accountId: await chooseNewAccountId(env),
    name: email,
    email,
    emailVerified: isVerified,
    image: null,
    isOperator: false,
    createdAt: now,
    updatedAt: now,
  }
}
