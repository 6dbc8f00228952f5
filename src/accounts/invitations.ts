import { hashMailLinkToken, makeMailLinkToken } from "../platform/crypto/mail-link-token.ts"
import type { Env } from "../bindings/env.ts"
import { newId } from "../platform/ids.ts"
import { invitationMail } from "./mail/templates.ts"
import { openDirectory } from "../db/database.ts"
import * as stored from "../db/accounts/invitations.ts"
import type { Invitation } from "../db/schema/users.ts"
import { findUserByEmail } from "../db/accounts/users.ts"
import { sendRateLimitedMail } from "./mail/limited-mail.ts"
import type { MailOutcome } from "./mail/limited-mail.ts"

const LIFE_MS = 7 * 24 * 3_600_000

/**
 * Invites an email address to sign up within a week. A new invitation replaces an earlier
 * invitation of the address. Sends the link by mail. Returns the link and the outcome of the mail;
 * null if a confirmed user already has the address.
 */
export async function inviteUser(
  env: Env,
  origin: string,
  request: { email: string; plan: string },
): Promise<{ invitation: Invitation; link: string; mail: MailOutcome } | null> {
  const database = openDirectory(env)
  const email = request.email.toLowerCase()
  const user = await findUserByEmail(database, email)
  if (user?.emailVerified) return null
  const token = makeMailLinkToken()
  const createdAt = Date.now()
  const invitation = {
    id: newId(),
    email,
    plan: request.plan,
    tokenHash: await hashMailLinkToken(token),
    createdAt,
    expiresAt: createdAt + LIFE_MS,
  }
  await stored.storeInvitation(database, invitation)
  const link = `${origin}/sign-up?invitation=${token}`
  const mail = await sendRateLimitedMail(env, "invitation", invitationMail({ to: email, link }))
  return { invitation, link, mail }
}

/** Returns unexpired invitations, newest first, and removes expired invitations. */
export async function listPendingInvitations(env: Env): Promise<Invitation[]> {
  const database = openDirectory(env)
  const now = Date.now()
  await stored.removeExpiredInvitations(database, now)
  return await stored.listInvitations(database, now)
}

/** Removes an invitation. Returns false if the invitation does not exist. */
export async function withdrawInvitation(env: Env, id: string): Promise<boolean> {
  return await stored.removeInvitation(openDirectory(env), id)
}

/**
 * Returns the unexpired invitation with the token of a mailed link; null if no invitation has the
 * token.
 */
export async function findInvitationByToken(env: Env, token: string): Promise<Invitation | null> {
  const tokenHash = await hashMailLinkToken(token)
  return await stored.findInvitation(openDirectory(env), { tokenHash }, Date.now())
}
