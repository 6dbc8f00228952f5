import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { findInvitation } from "../pipeline/accounts/invitations.ts"
import { DEFAULT_PLAN } from "../plans.ts"
import { directoryOf } from "../storage/database.ts"
import { findInvitation as findStored } from "../storage/invitations.ts"
import type { NewUser } from "../storage/users.ts"
import { EMAIL_LENGTH_MAX } from "./limits.ts"
import { emailTooLong, refusal } from "./refusal.ts"

/** Who would like to have an account, and what shows that they may. */
export type Applicant = {
  email: string
  /** Whether the service that they sign in by says that the email is theirs; null for none. */
  isVerifiedBy: boolean | null
  /** The secret of an invitation's link. */
  invitation: string | undefined
}

export type Admission = { by: NewUser["admittedBy"]; isVerified: boolean }

/**
 * Lets who signs up in as SIGN_UP says, and whom the operator invited always; throws a 403, or a 400 for
 * an email that is too long to be stored.
 */
export async function admit(env: Env, applicant: Applicant): Promise<Admission> {
  const { email, isVerifiedBy, invitation: token } = applicant
  if (email.length > EMAIL_LENGTH_MAX) throw emailTooLong()
  if (isVerifiedBy === false) throw refusal("FORBIDDEN", "EMAIL_NOT_VERIFIED", UNVERIFIED)
  const invitation = await findInvitationOf(env, applicant)
  if (invitation && invitation.email === email.toLowerCase()) {
    return { by: { invitationId: invitation.id }, isVerified: true }
  }
  if (token !== undefined) throw refusal("FORBIDDEN", "INVITATION_VOID", VOID)
  const { SIGN_UP: mode } = settingsOf(env)
  if (mode !== "open")
    throw refusal("FORBIDDEN", "SIGN_UP_CLOSED", mode === "closed" ? CLOSED : BY_INVITATION)
  return { by: { plan: DEFAULT_PLAN }, isVerified: isVerifiedBy ?? false }
}

const CLOSED = "Sign-up is closed; ask the operator of this service for an account."
const BY_INVITATION = "Sign-up is by invitation; ask the operator of this service for one."
const VOID = "The invitation is for another email, was used, or is not valid any more."
const UNVERIFIED = "The service that you sign in by does not say that this email is yours."

async function findInvitationOf(env: Env, { email, isVerifiedBy, invitation: token }: Applicant) {
  if (token !== undefined) return await findInvitation(env, token)
  if (isVerifiedBy === null) return null
  return await findStored(directoryOf(env), { email: email.toLowerCase() }, Date.now())
}
