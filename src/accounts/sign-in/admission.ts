import { getSettings } from "../../bindings/env.ts"
import type { Env } from "../../bindings/env.ts"
import { findInvitationByToken } from "../invitations.ts"
import { DEFAULT_PLAN } from "../../domain/plans.ts"
import { openDirectory } from "../../db/database.ts"
import { findInvitation as findStored } from "../../db/accounts/invitations.ts"
import type { NewUser } from "../../db/accounts/users.ts"
import { EMAIL_LENGTH_MAX } from "./limits.ts"
import { emailTooLongError, authError } from "./auth-errors.ts"

/** Person who signs up, with evidence of the right to sign up. */
export type SignUpApplicant = {
  email: string
  /** Whether the sign-in service has verified the email; null for a sign-up by password. */
  isVerifiedBy: boolean | null
  /** Token of a mailed invitation; undefined without an invitation. */
  invitation: string | undefined
}

/**
 * Permission to sign up: the plan or invitation that grants the permission, and whether the user's
 * email counts as verified.
 */
export type SignUpAdmission = { by: NewUser["admittedBy"]; isVerified: boolean }

/**
 * Returns the permission of a person to sign up. The permission comes from the setting SIGN_UP, or
 * from an invitation, which suffices under every setting. Throws a 403 response without permission,
 * and a 400 response for an email that is too long to be stored.
 */
export async function requireSignUpPermission(
  env: Env,
  applicant: SignUpApplicant,
): Promise<SignUpAdmission> {
  const { email, isVerifiedBy, invitation: token } = applicant
  if (email.length > EMAIL_LENGTH_MAX) throw emailTooLongError()
  if (isVerifiedBy === false) throw authError("FORBIDDEN", "EMAIL_NOT_VERIFIED", UNVERIFIED)
  const invitation = await findInvitationOf(env, applicant)
  if (invitation && invitation.email === email.toLowerCase()) {
    return { by: { invitationId: invitation.id }, isVerified: true }
  }
  if (token !== undefined) throw authError("FORBIDDEN", "INVITATION_VOID", VOID)
  const { SIGN_UP: mode } = getSettings(env)
  if (mode !== "open")
    throw authError("FORBIDDEN", "SIGN_UP_CLOSED", mode === "closed" ? CLOSED : BY_INVITATION)
  return { by: { plan: DEFAULT_PLAN }, isVerified: isVerifiedBy ?? false }
}

const CLOSED = "Sign-up is closed; ask the operator of this service for an account."
const BY_INVITATION = "Sign-up is by invitation; ask the operator of this service for one."
const VOID = "The invitation is used, expired, or for another email address."
const UNVERIFIED = "The sign-in service has not verified this email address."

async function findInvitationOf(
  env: Env,
  { email, isVerifiedBy, invitation: token }: SignUpApplicant,
) {
  if (token !== undefined) return await findInvitationByToken(env, token)
  if (isVerifiedBy === null) return null
  return await findStored(openDirectory(env), { email: email.toLowerCase() }, Date.now())
}
